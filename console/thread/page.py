"""One conversation as a page: which path is shown, which stretch of it, and everything beside it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from console.opening import Opening
from console.thread.as_of import AsOf, read_as_of
from console.thread.attempts import TurnAttempts, attempts_of
from console.thread.effects import ShownEffect, by_call, read_effects
from console.thread.head_log import Line, lines_of
from console.thread.totals import TotalsRow, totals_of
from console.thread.tree_map import Sight, TreeMap, draw
from console.thread.turns import Turn, read_stretch, turns_of
from conversations.models import Conversation, ConversationNote, RawBody
from conversations.reads.head_log import Move, read_moves
from conversations.reads.skeleton import read_skeleton
from conversations.reads.tree import Tree, cut_between_groups, through
from conversations.vocabulary import HeadMoveReason, RawClass

PIECE: Final = 50
_MOST_LATER: Final = 20
_MOST_NOTES: Final = 100
_MOVES_ON_A_PAGE: Final = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for: a message, or a moment as a picked move or a typed time.

    `found` is the id that a search led here by.
    """

    message: int | None = None
    move: str = ""
    at: str = ""
    all_moves: bool = False
    moves_before: int | None = None
    found: str = ""


@dataclass(frozen=True, slots=True)
class Fold:
    """Messages of the path that are not loaded yet: places `start` to `end` of it, numbers for people."""

    start: int
    end: int
    first_seq: int
    last_seq: int

    @property
    def count(self) -> int:
        return self.end - self.start


@dataclass(slots=True)
class Thread:
    """A stretch of the shown path. `leaf` is where that path ends."""

    tree: Tree
    path: list[int]
    turns: list[Turn]
    before: Fold | None
    after: Fold | None
    unplaced: TurnAttempts | None = None


@dataclass(slots=True)
class ConversationPage:
    conversation: Conversation
    tree: Tree
    thread: Thread
    is_live: bool
    totals: Sequence[TotalsRow]
    tree_map: TreeMap
    log: Sequence[Line]
    effects: Sequence[ShownEffect]
    notes: Sequence[ConversationNote] = ()
    quarantine: Sequence[RawBody] = ()
    as_of: AsOf | None = None
    as_of_trouble: str = ""
    is_head_gone: bool = False
    is_head_repaired: bool = False
    later: list[Turn] = field(default_factory=list)
    later_count: int = 0


def read_page(*, conversation: Conversation, opening: Opening, asked: Asked) -> ConversationPage:
    """Read one page; the number of queries does not depend on the conversation.

    Bodies are read only where `opening` is open.
    """
    conversation_id = conversation.pk
    tree = Tree(read_skeleton(conversation_id=conversation_id))
    moves = read_moves(conversation_id=conversation_id, before=asked.moves_before, limit=_moves_wanted(asked))
    as_of, trouble = _as_of(conversation_id, asked)
    live = tree.path_to(conversation.head_seq)
    effects = read_effects(conversation_id, live=set(live))
    path = _shown_path(conversation, tree, asked, as_of)
    later = {seq for seq in tree.nodes if as_of.is_later(tree, seq)} if as_of else set()
    start, end = window_around(tree, path, asked.message)
    coming = [seq for seq in live if seq in later][:_MOST_LATER]
    thread, later_turns = _threads(
        conversation,
        tree,
        path,
        (start, end),
        coming,
        effects=effects,
        is_open=opening.is_open,
        abandoned=() if as_of else set(path) - set(live),
    )
    move = as_of.move if as_of else None
    sight = Sight(
        path=path if as_of else live,
        head=path[-1] if as_of and path else conversation.head_seq,
        head_word="head then" if as_of else "head",
        here=asked.message,
        later=later,
        money=_by_message(effects),
    )
    return ConversationPage(
        conversation=conversation,
        tree=tree,
        thread=thread,
        is_live=path == live,
        totals=totals_of(conversation_id, tree, live=live, effects=effects),
        tree_map=draw(tree, sight),
        log=lines_of(moves, tree, picked=move and move.number, whole=asked.all_moves) if moves else (),
        effects=effects,
        notes=_notes(conversation_id),
        quarantine=_quarantined(conversation_id) if conversation.replay_obstacle else (),
        as_of=as_of,
        as_of_trouble=trouble,
        is_head_gone=move is not None and move.head_seq not in tree,
        is_head_repaired=bool(moves) and _is_repair(moves[0], conversation),
        later=later_turns,
        later_count=len(later),
    )


def read_piece(
    *,
    conversation: Conversation,
    opening: Opening,
    asked: Asked,
    start: int,
    end: int,
) -> Thread:
    """Read another stretch of the shown path: places `start` to `end` of it, whole groups of calls."""
    tree = Tree(read_skeleton(conversation_id=conversation.pk))
    as_of, _ = _as_of(conversation.pk, asked)
    path = _shown_path(conversation, tree, asked, as_of)
    live = set(tree.path_to(conversation.head_seq))
    effects = read_effects(conversation.pk, live=live)
    start, end = max(0, start), min(len(path), end, max(0, start) + 2 * PIECE)
    thread, _later = _threads(
        conversation,
        tree,
        path,
        (start, end),
        [],
        effects=effects,
        is_open=opening.is_open,
        abandoned=() if as_of else set(path) - live,
    )
    return thread


def window_around(tree: Tree, path: Sequence[int], seq: int | None) -> tuple[int, int]:
    """Return the places of the first stretch: the end of the path, or around one message."""
    end = len(path)
    if seq is not None and seq in path:
        end = min(len(path), path.index(seq) + PIECE // 2 + 1)
    start = max(0, end - PIECE)
    if len(path) - end <= 5:
        end = len(path)
    return cut_between_groups(tree, path, 0 if start <= 5 else start, end)


def _threads(
    conversation: Conversation,
    tree: Tree,
    path: list[int],
    window: tuple[int, int],
    coming: Sequence[int],
    *,
    effects: Sequence[ShownEffect],
    is_open: bool,
    abandoned: Collection[int] = (),
) -> tuple[Thread, list[Turn]]:
    """The turns of the stretch and of what came later, read together."""
    start, end = window
    seqs = path[start:end]
    stretch = read_stretch(conversation, tree, [*seqs, *coming], is_open=is_open)
    last = path[-1] if path else None
    beside = by_call(effects)
    turns = turns_of(tree, seqs, stretch, effects=beside, is_open=is_open, last=last, abandoned=abandoned)
    later = turns_of(
        tree, coming, stretch, effects=beside, is_open=is_open, last=coming[-1] if coming else None
    )
    thread = Thread(
        tree,
        path,
        turns,
        before=_fold(path, 0, start),
        after=_fold(path, end, len(path)),
        unplaced=attempts_of(stretch.attempts.get(None, [])),
    )
    return thread, later


def _fold(path: Sequence[int], start: int, end: int) -> Fold | None:
    return Fold(start, end, path[start], path[end - 1]) if start < end else None


def _as_of(conversation_id: UUID, asked: Asked) -> tuple[AsOf | None, str]:
    try:
        return read_as_of(conversation_id=conversation_id, number=asked.move, typed=asked.at), ""
    except ValueError as error:
        return None, str(error)


def _shown_path(conversation: Conversation, tree: Tree, asked: Asked, as_of: AsOf | None) -> list[int]:
    """Then, exactly the path of the head then; now, the live one or that through the message asked for."""
    if as_of is not None:
        return tree.path_to(as_of.move.head_seq) if as_of.move else []
    if asked.message is not None and asked.message in tree:
        return through(tree, asked.message, head=conversation.head_seq)
    return tree.path_to(conversation.head_seq)


def _is_repair(newest: Move, conversation: Conversation) -> bool:
    """Whether the head stands where it does because its source's own could not be read."""
    return newest.number == conversation.head_move and newest.reason == HeadMoveReason.IMPORT_REPAIR


def _notes(conversation_id: UUID) -> list[ConversationNote]:
    notes = ConversationNote.objects.filter(conversation_id=conversation_id).select_related("author")
    return list(notes.order_by("-written_at")[:_MOST_NOTES])


def _quarantined(conversation_id: UUID) -> list[RawBody]:
    """What the source held that is no message, without its bytes."""
    nodes = RawBody.objects.filter(conversation_id=conversation_id, raw_class=RawClass.QUARANTINE)
    return list(nodes.only("id", "place", "trouble", "size").order_by("created_at", "id")[:_MOST_NOTES])


def _by_message(effects: Sequence[ShownEffect]) -> dict[int, list[ShownEffect]]:
    found: dict[int, list[ShownEffect]] = {}
    for effect in effects:
        if effect.seq is not None:
            found.setdefault(effect.seq, []).append(effect)
    return found


def _moves_wanted(asked: Asked) -> int:
    """Unfolded, a page of the log; folded, enough of it for a line a turn."""
    return _MOVES_ON_A_PAGE if asked.all_moves else 1_000
