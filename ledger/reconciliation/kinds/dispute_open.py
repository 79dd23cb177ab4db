"""A customer's bank has taken an amount back for now, and nothing is decided."""

from uuid import UUID

from django.db.models import Q

from ledger.reconciliation.as_of import DisputeAsOf, disputes_as_of
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.judged import Seen
from ledger.reconciliation.movements import Movement
from ledger.reconciliation.vocabulary import FindingKind


def dispute_unheard_of(movement: Movement, *, effect_id: UUID | None) -> Seen:
    """Name a dispute that the processor shows and the ledger has not heard of."""
    return Seen(
        kind=FindingKind.DISPUTE_OPEN,
        subject=movement.reference,
        occurred_at=movement.occurred_at,
        effect_id=effect_id,
        reference=movement.reference,
        currency=movement.currency,
        amount_minor=abs(movement.amount_minor),
        facts={"charge": movement.charge_ref, "statement": True},
    )


def find(context: RunContext) -> list[Seen]:
    """Return the disputes that were open at the cut-off, as the ledger knew them."""
    run = context.run
    of_run = Q(effect__realm_id=run.realm_id, processor=run.processor)
    return [_seen(dispute) for dispute in disputes_as_of(of_run, as_of=context.as_of) if dispute.is_open]


def _seen(dispute: DisputeAsOf) -> Seen:
    return Seen(
        kind=FindingKind.DISPUTE_OPEN,
        subject=dispute.reference,
        occurred_at=dispute.opened_at,
        effect_id=dispute.effect_id,
        reference=dispute.reference,
        currency=dispute.currency,
        amount_minor=dispute.amount_minor,
        facts={"charge": dispute.charge_ref},
    )
