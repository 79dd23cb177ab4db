"""Two branches as lines of a table: a line for each message, and one for each effect of its calls."""

from collections.abc import Iterator
from typing import Any, Final

from console.states import look_of
from console.thread.blocks import Block
from console.thread.compare import Comparison, Side
from console.thread.effects import ShownEffect
from console.thread.turns import Turn
from conversations.currency import major_text

HEADER: Final = (
    *("turn", "branch", "standing", "line", "message", "by", "time", "asked for", "served by", "attempts"),
    *("failed attempts", "tokens in", "tokens out", "cost USD", "calls", "text"),
    *("processor's id", "currency", "amount", "state"),
)
# From the time to the text: what only a message has.
_OF_MESSAGES: Final = 10


def csv_rows(comparison: Comparison, *, sees_effects: bool) -> Iterator[tuple[Any, ...]]:
    """Yield the lines turn by turn, A before B; a text that is withheld says how long it is."""
    for turns in comparison.rounds:
        for side, name in ((comparison.a, "a"), (comparison.b, "b")):
            for row in turns.rows:
                turn: Turn | None = getattr(row, name)
                if turn is not None:
                    yield from _lines(turns.number, side, turn, sees_effects=sees_effects)


def _lines(number: int, side: Side, turn: Turn, *, sees_effects: bool) -> Iterator[tuple[Any, ...]]:
    branch = (number, side.name, side.standing)
    calls = [block for block in turn.blocks if block.kind == "call"]
    yield (
        *branch,
        *("message", turn.seq, turn.role_label, turn.at, *_attempts(turn)),
        *("; ".join(block.name for block in calls), _text(turn), "", "", "", ""),
    )
    for block in calls if sees_effects else ():
        for effect in block.effects:
            yield (*branch, "effect", turn.seq, block.name, *[""] * _OF_MESSAGES, *_money(effect))


def _attempts(turn: Turn) -> tuple[Any, ...]:
    if turn.attempts is None:
        return ("",) * 7
    tries = [line.attempt for line in turn.attempts.lines]
    return (
        *(turn.attempts.last.attempt.requested_model, turn.attempts.last.attempt.served_model),
        *(len(tries), turn.attempts.failed),
        sum(attempt.input_tokens or 0 for attempt in tries),
        sum(attempt.output_tokens or 0 for attempt in tries),
        turn.attempts.cost_usd,
    )


def _text(turn: Turn) -> str:
    return "\n\n".join(filter(None, (_words(block) for block in turn.blocks if block.kind == "said")))


def _words(block: Block) -> str:
    if block.shown.is_withheld:
        return f"withheld, {block.shown.characters} characters"
    cut = " [cut here: the message's page has the whole]" if block.shown.is_cut else ""
    return block.shown.lost or f"{block.shown.text}{cut}"


def _money(effect: ShownEffect) -> tuple[Any, ...]:
    amount = major_text(effect.minor, effect.currency) if effect.minor is not None else ""
    word = effect.word or look_of(effect.state).word
    return (effect.ref, effect.currency.upper(), amount, word)
