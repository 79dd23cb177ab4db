"""What the ledger asks of a processor. An adapter looks, refunds and lists; it never writes a row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from ledger.evidence import AnySeen, Found, Movement, OutcomeSeen, RefundSeen
from ledger.vocabulary import Operation


class ProcessorUnreachableError(Exception):
    """No answer, or one that says nothing: what was asked is as unknown as before."""


class NotToldError(ProcessorUnreachableError):
    """It answers, and knows nothing of what it was asked about: another account's key, or nothing there.

    To ask once more brings the same, so it is no sign that the processor is down.
    """


class OutcomeUnknownError(Exception):
    """The request left, and nobody knows what became of it. Look; do not send under another key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What an effect is looked for by. The key could act from `since` to `until`."""

    effect_id: UUID
    operation: Operation
    idempotency_key: str
    references: Sequence[tuple[str, str]]
    customer: str
    since: datetime
    until: datetime
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundOrder:
    """A refund to be made, once only under its key."""

    charge_ref: str
    amount_minor: int
    currency: str
    idempotency_key: str
    reason: str
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ReadEvent:
    """One event of a processor: its own id and time, what it hangs on, and what it says."""

    event_id: str
    type: str
    occurred_at: datetime
    object_ref: str
    seen: Sequence[AnySeen]
    # A charge whose refunds add up to this; ask for them where the ledger's sum differs.
    refunded: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """What an error says of the request that it answers: `seen` is final;

    `is_key_reused` says that the key was known with other parameters.
    """

    seen: OutcomeSeen | None = None
    is_key_reused: bool = False
    reference: str = ""


class Reader(Protocol):
    """Puts a processor's objects into the ledger's words; needs no network."""

    def read_event(self, event: Mapping[str, Any]) -> ReadEvent:
        """Read an event; ValueError where it is none."""

    def read_answer(self, answer: Mapping[str, Any]) -> OutcomeSeen | None:
        """Read the answer to a request; None where it is no object that an effect could be."""

    def unreadable_member(self, answer: Mapping[str, Any]) -> str:
        """Name a member that could only be kept changed; empty where the answer is read as it stands."""

    def read_refusal(self, *, status: int, body: Mapping[str, Any], request_id: str) -> Heard:
        """Read an error's status and body: what it says of the request, if anything."""

    def outcome_of_refund(self, refund: RefundSeen) -> OutcomeSeen:
        """Say of a refund what it means to the tool call that made it."""


class Adapter(Protocol):
    """Asks a processor over the network."""

    def find(self, sought: Sought) -> Found:
        """Look for an effect by everything that is known; never sends. Raises ProcessorUnreachableError."""

    def find_refunds(self, *, charge_ref: str) -> Sequence[RefundSeen]:
        """List every refund of a charge: a consistent read. Raises ProcessorUnreachableError."""

    def refund(self, order: RefundOrder) -> RefundSeen:
        """Send one refund under its key. Raises OutcomeUnknownError, RefusedError."""

    def is_release(self, refund: RefundSeen) -> bool:
        """Tell whether a refund is the rest of an authorisation, let go when a part was captured."""

    def events(self, *, since: datetime, until: datetime) -> Iterator[Mapping[str, Any]]:
        """List what happened in a time window, as far back as the processor keeps it."""

    def movements(self, *, since: datetime, until: datetime) -> Iterator[Movement]:
        """List movements of money made in a time window, for comparing with the ledger."""


class RefusedError(Exception):
    """The processor refused, and nothing was moved. `code` is its own word."""

    def __init__(self, code: str, *, explanation: str = "") -> None:
        super().__init__(explanation or code)
        self.code = code
