"""Charges beside the effects that they are: the amounts, currencies and states of both sides.

An authorisation that was captured in part shows at the processor as the whole and a release of
the rest, sometimes as a plain refund that no one asked for. The charge is compared without what
was released; what was released is then no movement of its own.
"""

from ledger.reconciliation.as_of import EffectAsOf
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.judged import Judged, Seen
from ledger.reconciliation.kinds.amount_differs import amount_differs
from ledger.reconciliation.kinds.contradiction import second_charge
from ledger.reconciliation.kinds.currency_differs import currency_differs
from ledger.reconciliation.kinds.missing_in_ledger import missing_in_ledger
from ledger.reconciliation.kinds.state_differs import state_differs
from ledger.reconciliation.knowing import Known
from ledger.reconciliation.movements import Movement
from ledger.reconciliation.suggesting import suggest
from ledger.reconciliation.tying import compensations_of, is_first_charge, is_told_by_its_charge, tie_charge
from ledger.reconciliation.vocabulary import MatchedBy
from ledger.statements.vocabulary import LineKind, LineStatus
from ledger.vocabulary import CompensationState, EffectState


def judge_charge(context: RunContext, known: Known, movement: Movement) -> list[Judged]:
    """Return the charge's row, and where a statement only sums refunds up, one for their sum."""
    judged = row_of(context, movement)
    tie = tie_charge(known, movement)
    if tie is None:
        _judge_unknown(context, known, movement, judged)
        return [judged]
    if tie.effect.realm_id != context.run.realm_id:
        judged.leave_to_another_realm()
        return [judged]
    judged.matched_by, judged.effect_id = tie.matched_by, tie.effect.id
    judged.ledger_state, judged.ledger_currency = str(tie.effect.state), tie.effect.currency
    if is_told_by_its_charge(known, tie.effect, movement):
        judged.matched_by, judged.is_counted = MatchedBy.NOT_COMPARED, False
        return [judged]
    if movement.status == LineStatus.DONE and not is_first_charge(known, tie.effect, movement):
        judged.is_explained = True
        _see(judged, second_charge(movement, tie.effect))
        return [judged]
    _judge_known(context, known, movement, judged, tie.effect)
    if movement.refunded_minor is not None and not context.lists_refunds and judged.is_counted:
        return [judged, *_judge_sum_of_refunds(context, known, movement, judged, tie.effect)]
    return [judged]


def row_of(context: RunContext, movement: Movement) -> Judged:
    return Judged(
        kind=movement.kind,
        reference=movement.reference,
        occurred_at=movement.occurred_at,
        currency=movement.currency,
        processor_minor=movement.moved_minor,
        processor_state=movement.status.value,
        line_id=movement.line_id,
        line_count=movement.line_count,
        is_counted=context.covers(movement.occurred_at),
    )


def _judge_unknown(context: RunContext, known: Known, movement: Movement, judged: Judged) -> None:
    """A movement that no id and no metadata lead from. What moved nothing is nobody's loss."""
    if not context.run.judges_unknown:
        judged.leave_to_another_realm()
        return
    if movement.status != LineStatus.DONE or not judged.is_counted:
        return
    suggestion = suggest(context, known, movement)
    if suggestion is not None:
        judged.matched_by, judged.effect_id = MatchedBy.SUGGESTED, suggestion.id
        judged.ledger_state = str(suggestion.state)
    if not context.is_late(movement.occurred_at):
        judged.is_waiting = True
        return
    _see(judged, missing_in_ledger(movement, suggestion=suggestion))


def _judge_known(
    context: RunContext, known: Known, movement: Movement, judged: Judged, effect: EffectAsOf
) -> None:
    judged.ledger_minor = effect.settled_minor
    if movement.status != LineStatus.DONE:
        # Another attempt of the same payment may have failed before: only its own charge speaks.
        if not effect.is_settled or effect.external_ref != movement.reference:
            judged.ledger_minor = 0
            return
        _differs_in_state(context, movement, judged, effect)
        return
    if not effect.is_settled:
        if effect.state == EffectState.FAILED and _is_let_go(known, effect, movement):
            judged.processor_minor = 0
            return
        _differs_in_state(context, movement, judged, effect)
        return
    if effect.currency != movement.currency:
        _see(judged, currency_differs(judged, effect_id=effect.id, reference=movement.reference))
        return
    judged.processor_minor -= released_of(known, effect, movement)
    if judged.difference_minor:
        _see(judged, amount_differs(judged, effect_id=effect.id, reference=movement.reference))


def _differs_in_state(context: RunContext, movement: Movement, judged: Judged, effect: EffectAsOf) -> None:
    """A young effect may still be on its way to us; one that is late is a finding."""
    judged.is_explained = True
    if effect.state == EffectState.PENDING and not context.is_late(movement.occurred_at):
        judged.is_waiting = True
        return
    _see(judged, state_differs(judged, effect_id=effect.id, reference=movement.reference))


def _is_let_go(known: Known, effect: EffectAsOf, charge: Movement) -> bool:
    """Whether a charge that was credited and then failed is let go as a whole."""
    releases = [other for other in known.of_effect.get(effect.id, ()) if _is_release(known, other)]
    return bool(releases) and sum(other.moved_minor for other in releases) == -charge.moved_minor


def released_of(known: Known, effect: EffectAsOf, charge: Movement) -> int:
    """Return how much of a charge was let go at its capture, if that is what makes the amounts equal."""
    excess = charge.moved_minor - effect.settled_minor
    if not effect.is_settled or excess <= 0:
        return 0
    return excess if released_references(known, effect, charge) is not None else 0


def released_references(known: Known, effect: EffectAsOf, charge: Movement) -> set[str] | None:
    """Return the movements that released the rest of a charge; None where nothing did.

    Named as releases, or refunds that no compensation of ours is, which add up to
    exactly what the charge is more than what was captured.
    """
    excess = charge.moved_minor - effect.settled_minor
    if excess <= 0:
        return None
    others = known.of_effect.get(effect.id, ())
    for wanted in (_is_release, _is_unasked):
        found = [other for other in others if wanted(known, other)]
        if found and -sum(other.moved_minor for other in found) == excess:
            return {other.reference for other in found}
    return None


def _is_release(known: Known, movement: Movement) -> bool:
    return movement.kind == LineKind.RELEASE


def _is_unasked(known: Known, movement: Movement) -> bool:
    return (
        movement.kind == LineKind.REFUND
        and movement.reference not in known.refunds
        and movement.compensation_mark is None
        and not any(kind == "refund" for kind, _ in known.by_reference.get(movement.reference, ()))
    )


def _judge_sum_of_refunds(
    context: RunContext, known: Known, movement: Movement, charge: Judged, effect: EffectAsOf
) -> list[Judged]:
    """Compare the sum of a charge's refunds, where no statement names them one by one."""
    settled = [r for r in compensations_of(known, effect.id) if r.state == CompensationState.SETTLED]
    back = sum(refund.amount_minor for refund in settled)
    refunded = movement.refunded_minor or 0
    if refunded == back == 0 or not effect.is_settled or effect.currency != movement.currency:
        return []
    released = movement.amount_minor - effect.settled_minor
    if released > 0 and refunded - back == released:
        charge.processor_minor -= released
        charge.seen.clear()
        refunded -= released
    row = row_of(context, movement)
    row.kind, row.reference = LineKind.REFUND, f"{movement.reference}:refunds"
    row.matched_by, row.effect_id, row.ledger_state = charge.matched_by, effect.id, charge.ledger_state
    row.processor_minor, row.ledger_minor = -refunded, -back
    if row.difference_minor:
        if any(refund.settled_at and not context.is_late(refund.settled_at) for refund in settled):
            row.is_waiting = True
        else:
            _see(row, amount_differs(row, effect_id=effect.id, reference=movement.reference))
    return [row]


def _see(judged: Judged, seen: Seen) -> None:
    """What happened outside the run's period is matched, and judged by the run that covers it."""
    if judged.is_counted:
        judged.seen.append(seen)
