"""Thinking blocks: where they stand, and whether the request allows them."""

from collections.abc import Iterator

from conversations.vocabulary import PartType, Role
from conversations.wire.rules.context import CALLS, RESULTS, Context, Turn
from conversations.wire.shapes import Violation

_THINKING = frozenset({PartType.THINKING})


def thinking_comes_first(context: Context) -> Iterator[Violation]:
    """An assistant's turn that has thinking begins with it; more may stand between calls."""
    for turn in context.turns:
        thinking = turn.of(_THINKING)
        if turn.role == Role.ASSISTANT and thinking and turn.spots[0].part.type != PartType.THINKING:
            explanation = "thinking stands behind other blocks of its turn"
            yield context.violation("thinking-first", "warn", thinking[0], explanation)


def tool_loop_keeps_thinking(context: Context) -> Iterator[Violation]:
    """With thinking on, the turn whose calls are being answered begins with its thinking."""
    turn = _answered_turn(context)
    if context.is_thinking is True and turn is not None and turn.spots[0].part.type != PartType.THINKING:
        explanation = "thinking is on, but the turn whose calls are answered does not begin with thinking"
        yield context.violation("tool-loop-thinking", "warn", turn.messages[0], explanation)


def thinking_is_allowed(context: Context) -> Iterator[Violation]:
    """With thinking off, the last assistant turn holds none."""
    turn = next((turn for turn in reversed(context.turns) if turn.role == Role.ASSISTANT), None)
    if context.is_thinking is False and turn is not None:
        for spot in turn.of(_THINKING):
            explanation = "thinking is off, but the last assistant turn holds some"
            yield context.violation("thinking-allowed", "warn", spot, explanation)


def _answered_turn(context: Context) -> Turn | None:
    """The turn with calls that the path's last messages answer."""
    if len(context.turns) < 2 or not context.turns[-1].of(RESULTS):
        return None
    turn = context.turns[-2]
    return turn if turn.role == Role.ASSISTANT and turn.of(CALLS) else None
