"""Small builders that the formats share: parts, times, texts that any export may hold."""

import math
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from conversations.drafts import HOLE_STRING, ImportedNode, MessageDraft, PartDraft
from conversations.imports import exact_json
from conversations.vocabulary import GenerationStatus, PartStatus, PartType, Role
from conversations.wire.cuts import LONGEST_SHELL, call_key, name_of
from conversations.wire.literals import is_storable, readable_copy

_FIRST_YEAR = 1971  # a zero that stands for "unknown" is not 1970
_MILLISECONDS_FROM = 100_000_000_000
_LONGEST_ID = 200
# Stands for a text while the JSON around it is written; nothing received can hold it.
_CUT = f"cut-{secrets.token_hex(16)}"


def as_dict(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def title_of(value: object) -> str:
    return readable_copy(as_text(value))


def id_of(value: object) -> str:
    """An id as text, empty where there is none.

    A number is its digits. What is no id at all (an error object where the head's id belongs) is its
    JSON: it names nothing in the file, and is reported as such instead of being taken for absent.
    """
    if value is None or isinstance(value, str):
        return value or ""
    return exact_json.dump(value).decode("utf-8")[:_LONGEST_ID]


def standing_below(nodes: Mapping[str, object], member: str) -> dict[str, tuple[str, int]]:
    """For each child that a node's list `member` names: the first such node, and the place in its list."""
    standing: dict[str, tuple[str, int]] = {}
    for parent_id, node in nodes.items():
        for place, child in enumerate(as_list(as_dict(node).get(member))):
            standing.setdefault(id_of(child), (parent_id, place))
    return standing


def gaps_between(
    nodes: Sequence[ImportedNode], standing: Mapping[str, tuple[str, int]], notes: list[str]
) -> list[ImportedNode]:
    """Give a node without a message for each that the file leaves out between a node and its child.

    The child names it as its parent and the node as its child, so the two belong together.
    """
    there = {node.source_id for node in nodes}
    absent = standing.keys() - there
    if not absent:
        return []
    named = {node.parent_source_id for node in nodes if node.parent_source_id is not None}
    gaps = []
    for source_id in sorted(absent & named):
        parent, place = standing[source_id]
        if parent in there:
            gaps.append(ImportedNode(source_id, parent, message=None, position=place))
            notes.append(f"node {source_id} is not in the file; what hangs from it is joined to {parent}")
    return gaps


def parent_of(node: object, member: str, standing: tuple[str, int] | None) -> str | None:
    """The parent that a node names itself, else the node that names it among its children."""
    if isinstance(node, dict) and member in node:
        return id_of(node[member]) or None
    return standing[0] if standing else None


# How records of a tree name the message they hang from.
PARENT_NAMES: Final = (
    "parent",
    "parent_id",
    "parentid",
    "parent_message_id",
    "parentmessageid",
    "parent_uuid",
    "parentuuid",
)


def moment_of(value: object) -> datetime | None:
    """Read a time in seconds, milliseconds or ISO form; unknown stays unknown. Without a zone it is UTC."""
    if isinstance(value, str):
        return _moment_of_text(value.strip().removesuffix(" UTC"))
    if isinstance(value, exact_json.Spelling):
        value = float(value.text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not math.isfinite(value):
        return None
    try:
        seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
        return _after_zero(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def _moment_of_text(text: str) -> datetime | None:
    if text.replace(".", "", 1).isdigit() and len(text) < 20:
        return moment_of(float(text))
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return _after_zero(moment.astimezone(UTC))
    except (ValueError, OverflowError):
        return None


def _after_zero(moment: datetime) -> datetime | None:
    return moment if moment.year >= _FIRST_YEAR else None


def text_part(text: str) -> PartDraft:
    """A text; what PostgreSQL cannot hold is kept in the payload, and the text shows a mark."""
    if is_storable(text):
        return PartDraft(PartType.TEXT, text=text)
    return PartDraft(
        PartType.TEXT,
        text=readable_copy(text),
        payload=exact_json.dump({"type": "text", "text": text}),
        is_text_copy=True,
    )


def block_part(
    part_type: PartType, block: object, *, provider_type: str = "", said_in: str = ""
) -> PartDraft:
    """A block kept as it stands in the export.

    `said_in` names the member that holds what a person reads: that text is
    kept as text, for pages and search, in the shell of the rest.
    """
    part = PartDraft(part_type, provider_type=name_of(provider_type))
    fields = as_dict(block)
    said = fields.get(said_in) if said_in else None
    if isinstance(said, str) and is_storable(said):
        shell = exact_json.dump({**fields, said_in: _CUT}).decode("utf-8").replace(f'"{_CUT}"', HOLE_STRING)
        if len(shell) <= LONGEST_SHELL and "\x00" not in shell:
            part.text, part.shell = said, shell
            return part
    part.payload = exact_json.dump(block)
    if isinstance(said, str) and said.strip():
        part.text, part.is_text_copy = readable_copy(said), True
    return part


def call_part(
    block: object, *, call_id: object, name: object, minted_id: str, provider_type: str = ""
) -> PartDraft:
    """A client call as it stands in the export; without an id it gets `minted_id`, which says so."""
    part = block_part(PartType.TOOL_USE, block, provider_type=provider_type)
    part.tool_call_id = call_key(call_id) or minted_id
    part.is_minted_id = part.tool_call_id != call_id
    part.tool_name = name_of(name) or "unnamed"
    return part


def result_part(
    block: object,
    *,
    call_id: object,
    minted_id: str | None = None,
    is_error: bool | None = None,
    said_in: str = "",
    provider_type: str = "",
) -> PartDraft:
    part = block_part(PartType.TOOL_RESULT, block, provider_type=provider_type, said_in=said_in)
    part.tool_call_id = call_key(call_id) or minted_id
    part.is_minted_id = part.tool_call_id is not None and part.tool_call_id != call_id
    if is_error is not None:
        part.status = PartStatus.ERROR if is_error else PartStatus.OK
    return part


# How an answer ended, by the words that sources have for it.
_ENDINGS: Final = {
    "length": GenerationStatus.TRUNCATED,
    "max_tokens": GenerationStatus.TRUNCATED,
    "incomplete": GenerationStatus.TRUNCATED,
    "content_filter": GenerationStatus.REFUSED,
    "refusal": GenerationStatus.REFUSED,
    "interrupted": GenerationStatus.INTERRUPTED,
}


def ending_of(reason: object, *, is_unfinished: bool = False, is_error: bool = False) -> GenerationStatus:
    """How an answer ended: its stop reason, and whether the source marks it as unfinished or as an error."""
    if is_error:
        return GenerationStatus.FAILED
    told = _ENDINGS.get(as_text(reason), GenerationStatus.COMPLETE)
    return GenerationStatus.INTERRUPTED if is_unfinished and told == GenerationStatus.COMPLETE else told


def minted_call_id(source_id: str, number: int) -> str:
    """An id for a call that the source did not give one: the node and the number of the call in it."""
    return call_key(f"minted-{source_id}-{number}") or f"minted-{number}"


def unfold_turn(
    parts: Iterable[PartDraft], *, node: ImportedNode, role: Role, occurred_at: datetime | None
) -> Iterator[ImportedNode]:
    """Hang a turn that holds calls and their results in one node as the messages it consists of.

    The last message keeps the node's id, so that what follows it in the source
    still finds its parent; those before it are named `<id>/1`, `<id>/2`, ...
    """
    runs: list[tuple[Role, list[PartDraft]]] = []
    for part in parts:
        speaker = Role.TOOL if part.type == PartType.TOOL_RESULT else role
        if runs and runs[-1][0] == speaker:
            runs[-1][1].append(part)
        else:
            runs.append((speaker, [part]))
    if not runs:
        runs.append((role, []))
    parent = node.parent_source_id
    for number, (speaker, spoken) in enumerate(runs, start=1):
        is_last = number == len(runs)
        source_id = node.source_id if is_last else f"{node.source_id}/{number}"
        yield ImportedNode(
            source_id=source_id,
            parent_source_id=parent,
            message=MessageDraft(role=speaker, parts=spoken, occurred_at=occurred_at),
            raw=node.raw if number == 1 else None,
            model=node.model if speaker != Role.TOOL else "",
            ending=node.ending if is_last else GenerationStatus.COMPLETE,
            is_hidden=node.is_hidden,
            position=node.position if number == 1 else None,
        )
        parent = source_id
