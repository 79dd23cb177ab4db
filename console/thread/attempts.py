"""The attempts under an answer: one line for one that went well, a table where there is more to see."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from console.states import look_of
from conversations.reads.attempts import ShownAttempt

# The lowest status of HTTP that says no; an answer that was begun with 200 may still break off.
_FIRST_FAILURE: Final = 400


@dataclass(frozen=True, slots=True)
class AttemptLine:
    """One attempt, with its outcome in words."""

    attempt: ShownAttempt
    outcome: str
    notes: tuple[str, ...]
    is_answer: bool


@dataclass(frozen=True, slots=True)
class TurnAttempts:
    """`is_answered` is false for attempts that hang below a message without having answered it."""

    lines: Sequence[AttemptLine]
    is_answered: bool

    @property
    def last(self) -> AttemptLine:
        return self.lines[-1]

    @property
    def failed(self) -> int:
        return sum(line.attempt.is_failed for line in self.lines)

    @property
    def is_worth_a_table(self) -> bool:
        return len(self.lines) > 1 or not self.is_answered or self.last.attempt.is_fallback or self.failed > 0

    @property
    def summary(self) -> str:
        """ "3 attempts, 2 failed, served by the fallback"."""
        count = len(self.lines)
        pieces = [f"{count} attempt{'' if count == 1 else 's'}"]
        if self.failed:
            pieces.append(f"{self.failed} failed")
        if self.is_answered and self.last.attempt.is_fallback:
            pieces.append("served by another model than asked for")
        if not self.is_answered:
            pieces.append("no answer")
        return ", ".join(pieces)

    @property
    def cost_usd(self) -> Decimal | None:
        """The sum over all attempts; None where none of them has a price."""
        priced = [line.attempt.cost_usd for line in self.lines if line.attempt.cost_usd is not None]
        return sum(priced, Decimal(0)) if priced else None


def attempts_of(found: Sequence[ShownAttempt]) -> TurnAttempts | None:
    """Return the attempts of one message in the order they were made; None where there is none."""
    if not found:
        return None
    lines = [
        AttemptLine(
            attempt=attempt,
            outcome=_outcome(attempt),
            notes=_notes(attempt.notes),
            is_answer=attempt.message_seq is not None,
        )
        for attempt in found
    ]
    return TurnAttempts(lines, is_answered=any(line.is_answer for line in lines))


def _outcome(attempt: ShownAttempt) -> str:
    """What became of it: "529 overloaded_error", "Complete, tool_use", "Interrupted"."""
    is_refused = (attempt.http_status or 0) >= _FIRST_FAILURE
    if attempt.is_failed and is_refused:
        return " ".join(filter(None, (str(attempt.http_status), attempt.error_code)))
    if attempt.is_failed:
        return ", ".join(filter(None, (look_of(attempt.status).word, attempt.error_code)))
    return ", ".join(filter(None, (look_of(attempt.status).word, attempt.stop_reason)))


def _notes(stored: object) -> tuple[str, ...]:
    found = json.loads(stored) if isinstance(stored, str) else stored
    return tuple(str(note) for note in found) if isinstance(found, list) else ()
