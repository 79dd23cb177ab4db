"""A customer's bank has taken an amount back for now, and nothing is decided."""

from uuid import UUID

from ledger.models import Dispute
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
    """Return the disputes that were open at the cut-off, as the ledger knows them."""
    run = context.run
    begun = Dispute.objects.filter(
        effect__realm_id=run.realm_id, processor=run.processor, opened_at__lte=run.cut_off
    ).order_by("id")
    return [_seen(dispute) for dispute in begun if is_open(dispute, context)]


def is_open(dispute: Dispute, context: RunContext) -> bool:
    return dispute.closed_at is None or dispute.closed_at > context.run.cut_off


def _seen(dispute: Dispute) -> Seen:
    return Seen(
        kind=FindingKind.DISPUTE_OPEN,
        subject=dispute.external_ref,
        occurred_at=dispute.opened_at,
        effect_id=dispute.effect_id,
        reference=dispute.external_ref,
        currency=dispute.currency,
        amount_minor=dispute.amount_minor,
        facts={"charge": dispute.charge_ref},
    )
