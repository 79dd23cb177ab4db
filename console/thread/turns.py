"""Turns: the messages of a stretch of a path, each with its blocks, versions and attempts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from access.actors import ActorKind
from console.thread.attempts import TurnAttempts, attempts_of
from console.thread.blocks import Block, blocks_of
from console.thread.effects import ShownEffect
from console.thread.siblings import Versions, versions_of
from conversations.models import Conversation
from conversations.reads.attempts import ShownAttempt, read_attempts
from conversations.reads.head_log import movers_to
from conversations.reads.tree import Tree
from conversations.reads.window import CallLife, ShownMessage, ShownPart, read_call_lives, read_window
from conversations.vocabulary import PartType, Role, Source

_ROLES: Final = {
    Role.SYSTEM: "System",
    Role.DEVELOPER: "Developer",
    Role.USER: "User",
    Role.ASSISTANT: "Assistant",
    Role.TOOL: "Tool",
}


@dataclass(frozen=True, slots=True)
class Group:
    """Words alone, or neighbouring blocks that stand in one column."""

    is_said: bool
    blocks: list[Block]


@dataclass(slots=True)
class Turn:
    """One message as the page shows it. A message of results only is one quiet line.

    `at` is None where an import brought the message and its source did not say when it was written.
    """

    seq: int
    role: str
    role_label: str
    at: datetime | None
    blocks: list[Block]
    versions: Versions | None
    attempts: TurnAttempts | None
    results_of_calls: int = 0
    is_fork: bool = False
    is_last: bool = False
    is_hidden: bool = False
    is_abandoned: bool = False

    @property
    def is_quiet(self) -> bool:
        return self.results_of_calls > 0 and not self.blocks and self.attempts is None and not self.versions

    @property
    def groups(self) -> list[Group]:
        groups: list[Group] = []
        for block in self.blocks:
            is_said = block.kind == "said"
            if groups and not is_said and not groups[-1].is_said:
                groups[-1].blocks.append(block)
            else:
                groups.append(Group(is_said, [block]))
        return groups

    @property
    def side(self) -> str:
        """Which of the two looks the turn has: what a model said is plain, all else is quoted."""
        return "assistant" if self.role == Role.ASSISTANT else "user"


@dataclass(frozen=True, slots=True)
class Stretch:
    """What was read for some messages of a path."""

    messages: Mapping[int, ShownMessage]
    lives: Mapping[tuple[int, str], CallLife]
    attempts: Mapping[int | None, list[ShownAttempt]]
    movers: Mapping[datetime, str] = field(default_factory=dict)


def read_stretch(conversation: Conversation, tree: Tree, seqs: Sequence[int], *, is_open: bool) -> Stretch:
    """Read all that the turns of these messages need; five queries at most, however many they are."""
    conversation_id = conversation.pk
    messages = read_window(conversation_id=conversation_id, seqs=seqs, with_bytes=is_open)
    moments = {tree.nodes[seq].created_at for seq in seqs if len(tree.versions_of(seq)) > 1}
    if conversation.source == Source.IMPORTED:
        moments |= {message.created_at for message in messages.values() if message.occurred_at is None}
    return Stretch(
        messages=messages,
        lives=read_call_lives(conversation_id=conversation_id, seqs=seqs),
        attempts=read_attempts(conversation_id=conversation_id, owners=seqs, with_words=is_open),
        movers=movers_to(conversation_id=conversation_id, moments=moments) if moments else {},
    )


def turns_of(
    tree: Tree,
    seqs: Sequence[int],
    stretch: Stretch,
    *,
    effects: Mapping[tuple[int, str], Sequence[ShownEffect]],
    is_open: bool,
    last: int | None,
    abandoned: Collection[int] = (),
) -> list[Turn]:
    """Return the turns of these messages, in their order; `last` is where the path ends."""
    results = _results(stretch.messages)
    return [
        _turn(
            tree,
            stretch.messages[seq],
            stretch,
            results=results.get(seq, {}),
            effects=effects,
            is_open=is_open,
            is_last=seq == last,
            is_abandoned=seq in abandoned,
        )
        for seq in seqs
    ]


def _turn(
    tree: Tree,
    message: ShownMessage,
    stretch: Stretch,
    *,
    results: Mapping[str, ShownPart],
    effects: Mapping[tuple[int, str], Sequence[ShownEffect]],
    is_open: bool,
    is_last: bool,
    is_abandoned: bool,
) -> Turn:
    usual = _ROLES[Role(message.role)]
    return Turn(
        seq=message.seq,
        role=message.role,
        role_label=f"{usual} ({message.provider_role})" if message.provider_role else usual,
        at=_said_at(message, stretch),
        blocks=blocks_of(
            message.parts, results=results, lives=stretch.lives, effects=effects, is_open=is_open
        ),
        versions=versions_of(tree, message.seq, movers=stretch.movers),
        attempts=attempts_of(stretch.attempts.get(message.seq, [])),
        results_of_calls=sum(part.type == PartType.TOOL_RESULT and not part.orphan for part in message.parts),
        is_fork=len(tree.children.get(message.seq, ())) > 1,
        is_last=is_last,
        is_hidden=message.is_hidden,
        is_abandoned=is_abandoned,
    )


def _said_at(message: ShownMessage, stretch: Stretch) -> datetime | None:
    """When it was said: its own time, else when it came here, unless an import brought it."""
    is_undated = message.occurred_at is None
    return None if is_undated and stretch.movers.get(message.created_at) == ActorKind.IMPORTER else message.at


def _results(messages: Mapping[int, ShownMessage]) -> dict[int, dict[str, ShownPart]]:
    """The results of the stretch, by the message of their calls and the call's id."""
    found: dict[int, dict[str, ShownPart]] = {}
    for message in messages.values():
        for part in message.parts:
            if part.type == PartType.TOOL_RESULT and not part.orphan and part.answers_seq is not None:
                found.setdefault(part.answers_seq, {})[part.tool_call_id or ""] = part
    return found
