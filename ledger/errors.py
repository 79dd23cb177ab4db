"""What the ledger refuses: the same shape as the store's refusals, so that every door says them alike."""

from dataclasses import dataclass
from uuid import UUID

from conversations.errors import ConflictError, NotFoundError, StoreError


class CallNotRecordedError(NotFoundError):
    """Begin for a call that the store does not hold: nothing may be sent."""

    def __init__(self, *, place: str) -> None:
        super().__init__(
            "call-not-recorded",
            "the call is not recorded; record the model's answer first, then begin, then send",
            place=place,
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that two requests under one key do not share."""

    what: str
    earlier: str
    now: str

    def __str__(self) -> str:
        return f"{self.what} {self.earlier or 'none'} vs {self.now or 'none'}"


class KeyConflictError(ConflictError):
    """One key, two different requests. The earlier effect is untouched, and nothing may be sent."""

    def __init__(self, *, effect_id: UUID, key: str, differences: list[Difference], place: str) -> None:
        shown = "; ".join(str(difference) for difference in differences)
        super().__init__(
            "key-conflict", f"the idempotency key was made for another request: {shown}", place=place
        )
        self.effect_id = effect_id
        self.key = key
        self.differences = differences


class KeyExpiredError(ConflictError):
    """The processor may have forgotten the key: to send again would be a new operation."""


class NotSendableError(ConflictError):
    """The effect is settled, or never was one to be sent."""


class InsideTransactionError(StoreError):
    """Something was to be sent while a transaction is open: a rollback would leave money without a row."""

    def __init__(self, *, place: str = "") -> None:
        super().__init__(
            "inside-transaction",
            "nothing may be sent inside a transaction: commit first, send after",
            place=place,
        )
