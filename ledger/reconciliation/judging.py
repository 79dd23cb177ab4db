"""One batch of a statement's lines, judged: each movement once, whatever number of lines tell of it."""

from collections.abc import Sequence

from ledger.models import StatementLine
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.judged import Judged
from ledger.reconciliation.judging_charges import judge_charge, row_of
from ledger.reconciliation.judging_disputes import judge_dispute
from ledger.reconciliation.judging_refunds import judge_refund, judge_release
from ledger.reconciliation.knowing import Known, know
from ledger.reconciliation.movements import Movement, new_movements
from ledger.reconciliation.vocabulary import MatchedBy
from ledger.statements.vocabulary import LineKind


def judge_lines(context: RunContext, lines: Sequence[StatementLine]) -> list[Judged]:
    """Return a row for each movement of these lines that the run has not judged yet."""
    movements, every = new_movements(context.run, lines, positions=context.positions)
    if not movements:
        return []
    known = know(context, movements, every)
    return [judged for movement in movements for judged in _judge(context, known, movement)]


def _judge(context: RunContext, known: Known, movement: Movement) -> list[Judged]:
    if movement.kind == LineKind.CHARGE:
        return judge_charge(context, known, movement)
    if movement.kind in (LineKind.REFUND, LineKind.REFUND_FAILURE):
        return [judge_refund(context, known, movement)]
    if movement.kind == LineKind.RELEASE:
        return [judge_release(context, known, movement)]
    if movement.kind in (LineKind.DISPUTE, LineKind.DISPUTE_REVERSAL):
        return [judge_dispute(context, known, movement)]
    judged = row_of(context, movement)
    judged.matched_by, judged.is_counted = MatchedBy.NOT_COMPARED, False
    return [judged]
