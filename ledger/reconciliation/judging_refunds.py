"""Refunds and their failures beside compensations, and beside refunds that a tool made itself."""

from dataclasses import replace

from ledger.reconciliation.as_of import EffectAsOf, RefundAsOf
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.judged import Judged, Seen
from ledger.reconciliation.judging_charges import released_references, row_of
from ledger.reconciliation.kinds.amount_differs import amount_differs
from ledger.reconciliation.kinds.currency_differs import currency_differs
from ledger.reconciliation.kinds.missing_in_ledger import missing_in_ledger
from ledger.reconciliation.kinds.refund_failed_later import refund_failed
from ledger.reconciliation.kinds.state_differs import state_differs
from ledger.reconciliation.knowing import Known
from ledger.reconciliation.movements import Movement
from ledger.reconciliation.tying import Tie, charge_of_refund, tie_refund
from ledger.reconciliation.vocabulary import MatchedBy
from ledger.statements.vocabulary import LineKind, LineStatus
from ledger.vocabulary import CompensationState, EffectState


def judge_refund(context: RunContext, known: Known, movement: Movement) -> Judged:
    judged = row_of(context, movement)
    refund, tie = tie_refund(known, movement)
    if tie is None:
        _judge_unknown(context, known, movement, judged)
        return judged
    _take(judged, tie, refund)
    if tie.effect.realm_id != context.run.realm_id:
        judged.leave_to_another_realm()
        return judged
    is_failure = movement.kind == LineKind.REFUND_FAILURE
    if is_failure and not all(_standing(tie.effect, refund)):
        judged.is_explained = True
        _see(judged, refund_failed(movement, effect_id=tie.effect.id, refund=refund))
        return judged
    if _amount(tie.effect, refund)[1] != movement.currency:
        amount = _amount(tie.effect, refund)[0]
        judged.ledger_minor = amount if is_failure else -amount
        _see(judged, currency_differs(judged, effect_id=tie.effect.id, reference=movement.reference))
        return judged
    if is_failure:
        judged.ledger_minor = _amount(tie.effect, refund)[0]
        if judged.difference_minor:
            _see(judged, amount_differs(judged, effect_id=tie.effect.id, reference=movement.reference))
        return judged
    _compare(context, known, movement, judged, tie.effect, refund)
    return judged


def judge_release(context: RunContext, known: Known, movement: Movement) -> Judged:
    """What a capture let go was never taken: the charge's own row is without it."""
    judged = row_of(context, movement)
    effect = charge_of_refund(known, movement)
    judged.processor_minor, judged.is_explained = 0, True
    if effect is not None and effect.realm_id != context.run.realm_id:
        judged.leave_to_another_realm()
    elif effect is not None:
        judged.matched_by, judged.effect_id = MatchedBy.EXTERNAL_ID, effect.id
    else:
        judged.matched_by = MatchedBy.NOT_COMPARED
    return judged


def _take(judged: Judged, tie: Tie, refund: RefundAsOf | None) -> None:
    judged.matched_by, judged.effect_id = tie.matched_by, tie.effect.id
    judged.compensation_id = refund.id if refund else None
    judged.ledger_state = str(refund.state if refund else tie.effect.state)
    judged.ledger_currency = _amount(tie.effect, refund)[1]


def _amount(effect: EffectAsOf, refund: RefundAsOf | None) -> tuple[int, str]:
    if refund is not None:
        return refund.amount_minor, refund.currency
    return effect.settled_minor, effect.currency


def _compare(
    context: RunContext,
    known: Known,
    movement: Movement,
    judged: Judged,
    effect: EffectAsOf,
    refund: RefundAsOf | None,
) -> None:
    amount = _amount(effect, refund)[0]
    has_settled, has_failed = _standing(effect, refund)
    is_returned_here = (movement.reference, LineKind.REFUND_FAILURE) in known.siblings
    if movement.status == LineStatus.FAILED:
        # Listed once, as it ended: went out and came back.
        if has_settled and not has_failed:
            judged.ledger_minor, judged.is_explained = -amount, True
            _see(judged, refund_failed(movement, effect_id=effect.id, refund=refund))
        return
    if has_failed and not is_returned_here and movement.status == LineStatus.DONE:
        is_returned_later = refund is not None and bool(
            refund.failed_at and refund.failed_at >= context.run.until
        )
        if not is_returned_later:
            _differ(context, movement, judged, effect)
            return
    if not has_settled:
        if movement.status == LineStatus.DONE:
            _differ(context, movement, judged, effect)
        return
    judged.ledger_minor = -amount
    if movement.status != LineStatus.DONE:
        _differ(context, movement, judged, effect)
    elif judged.difference_minor:
        _see(judged, amount_differs(judged, effect_id=effect.id, reference=movement.reference))


def _standing(effect: EffectAsOf, refund: RefundAsOf | None) -> tuple[bool, bool]:
    """Return whether the ledger has a refund as settled, ever, and whether it came back."""
    if refund is not None:
        return refund.has_settled, refund.state == CompensationState.FAILED
    return effect.is_settled, effect.state == EffectState.COMPENSATED


def _differ(context: RunContext, movement: Movement, judged: Judged, effect: EffectAsOf) -> None:
    judged.is_explained = True
    if not context.is_late(movement.occurred_at):
        judged.is_waiting = True
        return
    _see(judged, state_differs(judged, effect_id=effect.id, reference=movement.reference))


def _judge_unknown(context: RunContext, known: Known, movement: Movement, judged: Judged) -> None:
    effect = charge_of_refund(known, movement)
    if effect is not None:
        if effect.realm_id != context.run.realm_id:
            judged.leave_to_another_realm()
            return
        judged.effect_id, judged.ledger_state = effect.id, str(effect.state)
        if _is_released(known, effect, movement):
            judged.matched_by = MatchedBy.EXTERNAL_ID
            judged.processor_minor, judged.is_explained = 0, True
            return
    elif not context.run.judges_unknown:
        judged.leave_to_another_realm()
        return
    if not movement.moved_minor or not judged.is_counted:
        return
    if not context.is_late(movement.occurred_at):
        judged.is_waiting = True
        return
    # A refund that the ledger lacks still leads to its charge, where that is known.
    seen = missing_in_ledger(movement)
    judged.seen.append(replace(seen, effect_id=effect.id) if effect else seen)


def _is_released(known: Known, effect: EffectAsOf, movement: Movement) -> bool:
    for charge in known.of_effect.get(effect.id, ()):
        if charge.kind == LineKind.CHARGE and charge.status == LineStatus.DONE:
            released = released_references(known, effect, charge)
            if released is not None and movement.reference in released:
                return True
    return False


def _see(judged: Judged, seen: Seen) -> None:
    if judged.is_counted:
        judged.seen.append(seen)
