"""Two branches side by side, from their fork: what each said, did and took, step by step.

Messages of results are left out: results stand with their calls on both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import zip_longest
from typing import Final
from uuid import UUID

from console.opening import Opening
from console.thread.differing import Piece, differing
from console.thread.effects import EffectSum, ShownEffect, by_call, read_effects, sums_of
from console.thread.turns import Turn, read_stretch, turns_of
from conversations.models import Conversation
from conversations.reads.attempts import AttemptSum, sum_attempts
from conversations.reads.skeleton import read_skeleton
from conversations.reads.tree import Tree, through
from conversations.vocabulary import Role

MOST_SHOWN: Final = 150


@dataclass(slots=True)
class Side:
    """One branch below the fork. `cut` is how many of its messages are not on the page."""

    name: str
    leaf: int
    standing: str
    seqs: list[int]
    attempts: AttemptSum
    effects: Sequence[EffectSum]
    applied: Sequence[ShownEffect]
    cut: int = 0

    @property
    def title(self) -> str:
        return f"{self.name}, {self.standing}"

    @property
    def messages(self) -> int:
        return len(self.seqs)


@dataclass(slots=True)
class Row:
    """One step on both sides; a side is None where its branch has nothing at this step."""

    a: Turn | None
    b: Turn | None
    a_words: list[Piece] | None = None
    b_words: list[Piece] | None = None


@dataclass(slots=True)
class Round:
    """From one question to the next, on both sides."""

    number: int
    rows: list[Row]
    a_calls: int = 0
    b_calls: int = 0
    a_cost: Decimal | None = None
    b_cost: Decimal | None = None


@dataclass(slots=True)
class Comparison:
    conversation: Conversation
    fork: int | None
    in_common: int
    a: Side
    b: Side
    rounds: list[Round]
    others: list[int] = field(default_factory=list)

    @property
    def both_charged(self) -> bool:
        return bool(self.a.applied and self.b.applied)


def read_comparison(
    *, conversation: Conversation, opening: Opening, a: int, b: int, most: int = MOST_SHOWN
) -> Comparison | None:
    """Compare the branches through messages `a` and `b`; None where these are not two branches.

    Of each branch, `most` messages are set beside each other. The number of queries does not depend
    on the branches.
    """
    tree = Tree(read_skeleton(conversation_id=conversation.pk))
    if a not in tree or b not in tree:
        return None
    paths = [through(tree, seq, head=conversation.head_seq) for seq in (a, b)]
    in_common = _shared(*paths)
    below = [path[in_common:] for path in paths]
    if not below[0] and not below[1]:
        return None
    live = set(tree.path_to(conversation.head_seq))
    effects = read_effects(conversation.pk, live=live)
    sides = [
        _side(conversation.pk, name, path, seqs, live, effects, most=most)
        for name, path, seqs in zip("AB", paths, below, strict=True)
    ]
    shown = [seqs[:most] for seqs in below]
    rounds = _rounds(conversation, tree, shown, effects, is_open=opening.is_open)
    return Comparison(
        conversation=conversation,
        fork=paths[0][in_common - 1] if in_common else None,
        in_common=in_common,
        a=sides[0],
        b=sides[1],
        rounds=rounds,
        others=[leaf for leaf in tree.leaves() if leaf not in (paths[0][-1], paths[1][-1])],
    )


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    return next(
        (place for place, (a, b) in enumerate(zip_longest(one, other)) if a != b), min(len(one), len(other))
    )


def _side(
    conversation_id: UUID,
    name: str,
    path: Sequence[int],
    seqs: list[int],
    live: set[int],
    effects: Sequence[ShownEffect],
    *,
    most: int,
) -> Side:
    below = set(seqs)
    here = [effect for effect in effects if effect.seq in below]
    on_branch, _, _ = sum_attempts(conversation_id=conversation_id, seqs=seqs)
    return Side(
        name=name,
        leaf=path[-1],
        standing="live" if path[-1] in live else "abandoned",
        seqs=seqs,
        attempts=on_branch,
        effects=sums_of(here, conversation_id),
        applied=[effect for effect in here if effect.state in ("applied", "unknown") and not effect.is_use],
        cut=max(0, len(seqs) - most),
    )


def _rounds(
    conversation: Conversation,
    tree: Tree,
    shown: Sequence[list[int]],
    effects: Sequence[ShownEffect],
    *,
    is_open: bool,
) -> list[Round]:
    seqs = [seq for side in shown for seq in side]
    stretch = read_stretch(conversation, tree, seqs, is_open=is_open)
    beside = by_call(effects)
    sides = [
        _in_rounds(turns_of(tree, side, stretch, effects=beside, is_open=is_open, last=None))
        for side in shown
    ]
    rounds = []
    for number, (a, b) in enumerate(zip_longest(*sides, fillvalue=()), start=1):
        rows = [_row(one, other) for one, other in zip_longest(_said(a), _said(b))]
        rounds.append(Round(number, rows, _calls(a), _calls(b), a_cost=_cost(a), b_cost=_cost(b)))
    return rounds


def _in_rounds(turns: Sequence[Turn]) -> list[list[Turn]]:
    """A round begins where somebody asks; results of calls belong to the round they were asked for in."""
    rounds: list[list[Turn]] = []
    for turn in turns:
        is_question = turn.role == Role.USER and not turn.results_of_calls
        if not rounds or is_question:
            rounds.append([])
        rounds[-1].append(turn)
    return rounds


def _said(turns: Sequence[Turn]) -> list[Turn]:
    return [turn for turn in turns if not turn.is_quiet]


def _calls(turns: Sequence[Turn]) -> int:
    return sum(block.kind == "call" for turn in turns for block in turn.blocks)


def _cost(turns: Sequence[Turn]) -> Decimal | None:
    found = [turn.attempts.cost_usd for turn in turns if turn.attempts]
    priced = [cost for cost in found if cost is not None]
    return sum(priced, Decimal(0)) if priced else None


def _row(a: Turn | None, b: Turn | None) -> Row:
    row = Row(a, b)
    if a is None or b is None or a.role != b.role:
        return row
    found = differing(_text(a), _text(b))
    if found is not None and _text(a):
        row.a_words, row.b_words = found
    return row


def _text(turn: Turn) -> str:
    """The words of a message; empty where they are withheld, lost, or too many for the page."""
    said = [block.shown for block in turn.blocks if block.kind == "said"]
    if any(shown.is_withheld or shown.lost or shown.is_cut for shown in said):
        return ""
    return "\n\n".join(shown.text for shown in said)
