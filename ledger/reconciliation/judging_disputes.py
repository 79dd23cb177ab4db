"""What banks took back and gave again, beside the disputes that the ledger has heard of."""

from ledger.reconciliation.as_of import DisputeAsOf
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.judged import Judged
from ledger.reconciliation.judging_charges import row_of
from ledger.reconciliation.kinds.amount_differs import amount_differs
from ledger.reconciliation.kinds.currency_differs import currency_differs
from ledger.reconciliation.kinds.dispute_open import dispute_unheard_of
from ledger.reconciliation.kinds.state_differs import state_differs
from ledger.reconciliation.knowing import Known
from ledger.reconciliation.movements import Movement
from ledger.reconciliation.tying import charge_of_refund
from ledger.reconciliation.vocabulary import MatchedBy
from ledger.statements.vocabulary import LineKind, LineStatus

_WON = frozenset({"won", "prevented", "warning_closed"})


def judge_dispute(context: RunContext, known: Known, movement: Movement) -> Judged:
    """Compare a dispute with the one that the ledger knows: whether it took or gave back, and how much.

    One that the ledger does not know is open, unless it is over in the statements too.
    """
    judged = row_of(context, movement)
    dispute = known.disputes.get(movement.reference)
    owner = charge_of_refund(known, movement)
    if dispute is not None and dispute.effect_id is not None:
        owner = known.effects.get(dispute.effect_id, owner)
    if owner is not None and owner.realm_id != context.run.realm_id:
        judged.leave_to_another_realm()
        return judged
    judged.effect_id = owner.id if owner else None
    if dispute is None:
        _judge_unknown(context, known, movement, judged)
        return judged
    judged.matched_by, judged.ledger_state = MatchedBy.EXTERNAL_ID, dispute.status[:12]
    judged.ledger_currency = dispute.currency or movement.currency
    judged.ledger_minor = _in_ledger(movement, dispute)
    if bool(judged.ledger_minor) != bool(judged.processor_minor):
        _differs_in_state(context, movement, judged)
    elif judged.ledger_minor and judged.is_counted:
        _compare(movement, judged)
    return judged


def _in_ledger(movement: Movement, dispute: DisputeAsOf) -> int:
    """What the ledger expects this line to say: taken while open or lost, given back once won.

    A dispute that was heard of without its amount is no word on it: then the statement's stands.
    """
    amount = dispute.amount_minor or abs(movement.amount_minor)
    is_won = not dispute.is_open and dispute.status in _WON
    if movement.kind == LineKind.DISPUTE_REVERSAL:
        return amount if is_won else 0
    is_listed_as_it_ended = movement.status != LineStatus.DONE
    return 0 if is_listed_as_it_ended and (is_won or dispute.status.startswith("warning")) else -amount


def _differs_in_state(context: RunContext, movement: Movement, judged: Judged) -> None:
    judged.is_explained = True
    if not context.is_late(movement.occurred_at):
        judged.is_waiting = True
    elif judged.is_counted:
        seen = state_differs(judged, effect_id=judged.effect_id, reference=movement.reference)
        judged.seen.append(seen)


def _compare(movement: Movement, judged: Judged) -> None:
    if judged.ledger_currency != movement.currency:
        seen = currency_differs(judged, effect_id=judged.effect_id, reference=movement.reference)
        judged.seen.append(seen)
    elif judged.difference_minor:
        seen = amount_differs(judged, effect_id=judged.effect_id, reference=movement.reference)
        judged.seen.append(seen)


def _judge_unknown(context: RunContext, known: Known, movement: Movement, judged: Judged) -> None:
    if judged.effect_id is None and not context.run.judges_unknown:
        judged.leave_to_another_realm()
        return
    judged.is_explained = True
    is_over = (movement.reference, LineKind.DISPUTE_REVERSAL) in known.siblings
    is_taken = movement.kind == LineKind.DISPUTE and movement.status == LineStatus.DONE
    if is_taken and not is_over and judged.is_counted:
        if context.is_late(movement.occurred_at):
            judged.seen.append(dispute_unheard_of(movement, effect_id=judged.effect_id))
        else:
            judged.is_waiting = True
