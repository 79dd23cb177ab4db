"""What the rules look at: a path as the provider sees it, with neighbours of one side merged."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from conversations.drafts import MessageDraft, PartDraft
from conversations.vocabulary import Dialect, PartType, Role
from conversations.wire.render import render_part
from conversations.wire.shapes import COMPACT, Strength, Violation, WireError
from conversations.wire.slices import read_json

CALLS = frozenset({PartType.TOOL_USE})
RESULTS = frozenset({PartType.TOOL_RESULT})


class Spot(NamedTuple):
    """A part and where it stands."""

    message: int
    ordinal: int
    part: PartDraft


@dataclass(slots=True)
class Turn:
    """Neighbouring messages of one side; for a provider that merges them they are one message."""

    role: Role
    spots: list[Spot] = field(default_factory=list)
    messages: list[int] = field(default_factory=list)

    def of(self, kinds: frozenset[PartType]) -> list[Spot]:
        return [spot for spot in self.spots if spot.part.type in kinds]


@dataclass(slots=True)
class Context:
    """A path to judge. `tools` are the declared tools' names, None where they are not known.

    `is_thinking` says whether the request switches thinking on or off, None
    where it does not say. `is_whole` is false where the provider holds the
    beginning of the conversation.
    """

    messages: Sequence[MessageDraft]
    dialect: Dialect
    names: Sequence[str]
    turns: list[Turn]
    tools: frozenset[str] | None = None
    is_thinking: bool | None = None
    is_whole: bool = True

    def spots(self) -> Iterator[Spot]:
        for turn in self.turns:
            yield from turn.spots

    def place(self, spot: Spot) -> str:
        return f"{self.names[spot.message]}.content.{spot.ordinal}"

    def violation(self, rule: str, strength: Strength, spot: Spot | int, explanation: str) -> Violation:
        place = self.names[spot] if isinstance(spot, int) else self.place(spot)
        return Violation(rule, strength, place, explanation)

    def value(self, spot: Spot) -> dict[str, object]:
        """The block as the provider reads it; empty where it is none, or its bytes are gone."""
        role = self.messages[spot.message].role
        try:
            block = read_json(render_part(spot.part, dialect=self.dialect, role=role, style=COMPACT))
        except WireError:
            return {}
        return block if isinstance(block, dict) else {}


def side_of(role: Role) -> Role:
    """Whose turn it is: tools answer on the user's side."""
    if role == Role.TOOL:
        return Role.USER
    return Role.SYSTEM if role == Role.DEVELOPER else role


def take_turns(messages: Sequence[MessageDraft]) -> list[Turn]:
    turns: list[Turn] = []
    for index, message in enumerate(messages):
        side = side_of(message.role)
        if not turns or turns[-1].role != side:
            turns.append(Turn(side))
        turns[-1].messages.append(index)
        turns[-1].spots += [Spot(index, ordinal, part) for ordinal, part in enumerate(message.parts)]
    return turns


def shown(spot: Spot) -> str:
    """How an explanation names a call."""
    name = spot.part.tool_name or "a tool"
    return f"the call {spot.part.tool_call_id} of {name}"
