"""How long a difference waits before it is late: of a realm, as a run freezes it."""

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from ledger.models import ReconciliationPolicy


@dataclass(frozen=True, slots=True)
class Waiting:
    """Hours; see ReconciliationPolicy."""

    answer_hours: int = 1
    statement_hours: int = 24
    due_hours: int = 72

    @property
    def for_an_answer(self) -> timedelta:
        return timedelta(hours=self.answer_hours)

    @property
    def for_the_other_side(self) -> timedelta:
        return timedelta(hours=self.statement_hours)

    @property
    def until_due(self) -> timedelta:
        return timedelta(hours=self.due_hours)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def waiting_of(realm_id: int) -> Waiting:
    """Return the realm's waiting times, or the shipped ones."""
    policy = ReconciliationPolicy.objects.filter(realm_id=realm_id).first()
    if policy is None:
        return Waiting()
    return Waiting(policy.answer_hours, policy.statement_hours, policy.due_hours)
