"""The head log beside a thread: the moves worth a line, with steps within one turn folded away."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from conversations.reads.head_log import Move
from conversations.reads.tree import Tree
from conversations.vocabulary import HeadMoveReason, Role

_WORDS: Final = {
    HeadMoveReason.APPEND: "Continue",
    HeadMoveReason.USER_EDIT: "Edit",
    HeadMoveReason.REGENERATE: "Regenerate",
    HeadMoveReason.SWITCH: "Switch",
    HeadMoveReason.CLIENT_REWRITE: "History rewritten",
    HeadMoveReason.IMPORT: "Import",
    HeadMoveReason.IMPORT_REPAIR: "Import, in place of a head that could not be read",
    HeadMoveReason.FORK: "Fork",
}
MOST_LINES: Final = 12


@dataclass(frozen=True, slots=True)
class Line:
    move: Move
    words: str
    is_picked: bool
    is_in_tree: bool


def lines_of(moves: Sequence[Move], tree: Tree, *, picked: int | None, whole: bool = False) -> list[Line]:
    """Return the lines of the log, newest first; `moves` are newest first.

    Folded, each turn has one line: where it began. Whatever is no plain step stands by itself.
    """
    kept = moves if whole else [move for move in moves if _is_worth_a_line(move, tree, picked, moves[0])]
    shown = kept if whole else _around(kept, picked)
    return [
        Line(
            move=move,
            words=_words(move),
            is_picked=move.number == picked,
            is_in_tree=move.head_seq in tree,
        )
        for move in shown
    ]


def _words(move: Move) -> str:
    reason = HeadMoveReason(move.reason)
    is_plain = reason == HeadMoveReason.APPEND
    return "Start" if move.number == 1 and is_plain else _WORDS[reason]


def _is_worth_a_line(move: Move, tree: Tree, picked: int | None, newest: Move) -> bool:
    if move.number in (1, picked, newest.number) or move.reason != HeadMoveReason.APPEND:
        return True
    node = tree.nodes.get(move.head_seq)
    return node is None or (node.role == Role.USER and node.answers_seq is None)


def _around(kept: Sequence[Move], picked: int | None) -> Sequence[Move]:
    """The newest lines, or those around the picked move, and always the first one of all."""
    place = next((place for place, move in enumerate(kept) if move.number == picked), 0)
    start = max(0, min(place - MOST_LINES // 2, len(kept) - MOST_LINES))
    shown = list(kept[start : start + MOST_LINES])
    if kept and kept[-1].number == 1 and shown[-1] is not kept[-1]:
        shown.append(kept[-1])
    return shown
