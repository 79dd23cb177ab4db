"""What banks took back and gave again, beside the disputes that the ledger has heard of."""

from ledger.reconciliation.as_of import DisputeAsOf
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.judged import Judged
from ledger.reconciliation.judging_charges import row_of
from ledger.reconciliation.kinds.dispute_open import dispute_unheard_of
from ledger.reconciliation.kinds.state_differs import state_differs
from ledger.reconciliation.knowing import Known
from ledger.reconciliation.movements import Movement
from ledger.reconciliation.tying import charge_of_refund
from ledger.reconciliation.vocabulary import MatchedBy
from ledger.statements.vocabulary import LineKind, LineStatus

_WON = frozenset({"won", "prevented", "warning_closed"})


def judge_dispute(context: RunContext, known: Known, movement: Movement) -> Judged:
    """A dispute that the ledger knows ties out; one that it does not is open, unless it is over here too."""
    judged = row_of(context, movement)
    dispute = known.disputes.get(movement.reference)
    charge = charge_of_refund(known, movement)
    judged.effect_id = dispute.effect_id if dispute else (charge.id if charge else None)
    if charge is not None and charge.realm_id != context.run.realm_id:
        judged.matched_by, judged.is_counted = MatchedBy.OTHER_REALM, False
        return judged
    if dispute is None:
        _judge_unknown(context, known, movement, judged)
        return judged
    judged.matched_by, judged.ledger_state = MatchedBy.EXTERNAL_ID, dispute.status[:12]
    judged.ledger_minor = _in_ledger(movement, dispute, judged)
    if judged.difference_minor:
        judged.is_explained = True
        if not context.is_late(movement.occurred_at):
            judged.is_waiting = True
        elif judged.is_counted:
            seen = state_differs(judged, effect_id=dispute.effect_id, reference=movement.reference)
            judged.seen.append(seen)
    return judged


def _in_ledger(movement: Movement, dispute: DisputeAsOf, judged: Judged) -> int:
    """What the ledger expects this line to say: taken while open or lost, given back once won."""
    is_won = not dispute.is_open and dispute.status in _WON
    if movement.kind == LineKind.DISPUTE_REVERSAL:
        return judged.processor_minor if is_won else 0
    is_listed_as_it_ended = movement.status != LineStatus.DONE
    return (
        0
        if is_listed_as_it_ended and (is_won or dispute.status.startswith("warning"))
        else -abs(judged.processor_minor or movement.amount_minor)
    )


def _judge_unknown(context: RunContext, known: Known, movement: Movement, judged: Judged) -> None:
    if judged.effect_id is None and not context.run.judges_unknown:
        judged.matched_by, judged.is_counted = MatchedBy.OTHER_REALM, False
        return
    judged.is_explained = True
    is_over = (movement.reference, LineKind.DISPUTE_REVERSAL) in known.siblings
    is_taken = movement.kind == LineKind.DISPUTE and movement.status == LineStatus.DONE
    if is_taken and not is_over and judged.is_counted:
        if context.is_late(movement.occurred_at):
            judged.seen.append(dispute_unheard_of(movement, effect_id=judged.effect_id))
        else:
            judged.is_waiting = True
