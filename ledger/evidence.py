"""What a processor says, in the ledger's words. Adapters make these; services settle by them.

Nothing here knows a processor, and nothing here touches the database.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from ledger.vocabulary import EffectState, EvidenceSource, ReferenceKind

# Metadata that goes to the processor with every request of ours and comes back with what it made.
EFFECT_METADATA = "counterfoil_effect"
KEY_METADATA = "counterfoil_key"
COMPENSATION_METADATA = "counterfoil_compensation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What all evidence says: where it was seen, and by what it can be tied to a row of ours."""

    processor: str
    source: EvidenceSource
    reference: str
    status: str = ""
    currency: str = ""
    amount_minor: int | None = None
    occurred_at: datetime | None = None
    effect_id: UUID | None = None
    idempotency_key: str = ""
    raw_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeSeen(Seen):
    """What became of one operation: a charge, a refund that a tool made, or anything else.

    `amount_minor` is what was moved.
    """

    outcome: EffectState
    references: Sequence[tuple[ReferenceKind, str]] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundSeen(Seen):
    """One refund of a charge. `is_release` marks the rest of an authorisation let go at its capture.

    `is_release` None means that only the processor can tell.
    """

    charge_ref: str
    intent_ref: str = ""
    outcome: EffectState
    failure_code: str = ""
    compensation_id: UUID | None = None
    is_release: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeSeen(Seen):
    """One state of a dispute; `is_open` until the bank has decided."""

    charge_ref: str
    intent_ref: str = ""
    reason: str = ""
    is_open: bool
    opened_at: datetime


type AnySeen = OutcomeSeen | RefundSeen | DisputeSeen


@dataclass(frozen=True, slots=True)
class Found:
    """What looking for one operation brought: evidence, certain absence, or neither.

    `is_absent` only where a consistent list over the whole time in which the key
    could act was read to its end.
    """

    seen: Sequence[OutcomeSeen] = ()
    is_absent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """One movement of money at the processor, for comparing with the ledger."""

    kind: str
    reference: str
    charge_ref: str
    intent_ref: str
    amount_minor: int
    currency: str
    status: str
    occurred_at: datetime
    effect_id: UUID | None
    compensation_id: UUID | None
