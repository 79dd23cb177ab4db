"""The records of one Claude Code conversation as nodes of a tree."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from conversations.drafts import ImportedNode, MessageDraft, PartDraft
from conversations.imports.dialects import anthropic_parts
from conversations.imports.drafting import as_dict, as_text, minted_call_id, moment_of
from conversations.imports.reading import quarantined
from conversations.vocabulary import PartType, Role
from conversations.wire.shapes import WireError
from conversations.wire.shells import FORM_STRING

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}


@dataclass(slots=True)
class SessionRecord:
    """One line of a session file; `is_object` is false for a line that is JSON of another kind, or none."""

    place: str
    raw: bytes
    value: dict[str, object]
    trouble: str
    is_object: bool

    @property
    def source_id(self) -> str:
        return as_text(self.value.get("uuid")) or self.place.replace(" ", "-")

    @property
    def parent_id(self) -> str | None:
        # After a compaction the chain starts anew; the record says what it logically follows.
        return as_text(self.value.get("parentUuid")) or as_text(self.value.get("logicalParentUuid")) or None

    @property
    def moment(self) -> datetime | None:
        return moment_of(self.value.get("timestamp"))

    @property
    def is_spoken(self) -> bool:
        return as_text(self.value.get("type")) in _ROLES

    @property
    def message_id(self) -> str:
        if self.value.get("type") != "assistant":
            return ""
        return as_text(as_dict(self.value.get("message")).get("id"))


def build_nodes(records: Sequence[SessionRecord], notes: list[str]) -> list[ImportedNode]:
    """Turn records into nodes: pieces of one answer joined, tool results hung one below the other."""
    linked = [record for record in records if record.is_object and "uuid" in record.value]
    is_line = not any(record.parent_id for record in records)
    if is_line and len(linked) > 1:
        notes.append("the records name no parents; taken as a line, in file order")
    nodes: list[ImportedNode] = []
    answers: dict[str, ImportedNode] = {}
    stands_for: dict[str, str] = {}
    before: str | None = None
    used: set[str] = set()
    for record in records:
        parent = before if is_line else record.parent_id
        node = _node(record, parent)
        if is_line and node.source_id in used:
            node.source_id = f"{node.source_id}~{record.place.replace(' ', '-')}"
        used.add(node.source_id)
        answer = answers.get(record.message_id) if record.message_id and node.message else None
        if answer is not None and answer.message is not None and node.message is not None:
            _join(answer.message, node.message)
            stands_for[node.source_id] = answer.source_id
            before = answer.source_id
            continue
        if record.message_id and node.message:
            answers[record.message_id] = node
        nodes.append(node)
        if record.is_object and (record.is_spoken or "uuid" in record.value):
            before = node.source_id
    if stands_for:
        notes.append(
            f"{len(stands_for)} records were further pieces of {len(set(stands_for.values()))} answers"
        )
    _hang_below_answers(nodes, stands_for)
    _chain_results(nodes)
    return nodes


def _node(record: SessionRecord, parent: str | None) -> ImportedNode:
    if not record.is_object:
        trouble = record.trouble or "a line that is no record"
        return quarantined(record.source_id, None, record.raw, trouble)
    if not record.is_spoken:
        if "type" not in record.value:
            return quarantined(record.source_id, parent, record.raw, "a record without a type")
        return ImportedNode(record.source_id, parent, message=None)
    message = as_dict(record.value.get("message"))
    role = _ROLES.get(as_text(message.get("role")) or as_text(record.value.get("type")))
    if role is None or not isinstance(message.get("content"), str | list):
        trouble = (
            "a record whose message has no role that we know" if role is None else "a record without content"
        )
        return quarantined(record.source_id, parent, record.raw, trouble)
    try:
        parts, is_string = anthropic_parts(record.raw, role=role)
    except WireError as error:
        return quarantined(record.source_id, parent, record.raw, str(error))
    _settle_ids(record.source_id, parts)
    return ImportedNode(
        source_id=record.source_id,
        parent_source_id=parent,
        message=MessageDraft(
            role=role,
            parts=parts,
            shell=FORM_STRING if is_string else None,
            occurred_at=record.moment,
        ),
        model=as_text(message.get("model")) if role == Role.ASSISTANT else "",
        is_hidden=record.value.get("isMeta") is True,
    )


def _settle_ids(source_id: str, parts: Sequence[PartDraft]) -> None:
    for number, part in enumerate(parts, start=1):
        if part.type == PartType.TOOL_USE:
            part.tool_name = part.tool_name or "unnamed"
            if part.tool_call_id is None:
                part.tool_call_id, part.is_minted_id = minted_call_id(source_id, number), True
        elif part.type == PartType.TOOL_RESULT and part.tool_call_id is None:
            part.orphan = True


def _join(answer: MessageDraft, piece: MessageDraft) -> None:
    """Add a further piece of an answer; what the program wrote again is there already."""
    if answer.shell == FORM_STRING or piece.shell == FORM_STRING:
        answer.shell = None
    for part in piece.parts:
        if part not in answer.parts:
            answer.parts.append(part)


def _hang_below_answers(nodes: Sequence[ImportedNode], stands_for: dict[str, str]) -> None:
    for node in nodes:
        if node.parent_source_id in stands_for:
            node.parent_source_id = stands_for[node.parent_source_id]


def _chain_results(nodes: Sequence[ImportedNode]) -> None:
    """Results of calls made side by side hang each from its own call's record: one below the other instead.

    The pieces of the answer are one message now, so what were steps would look
    like branches. What followed any of the results follows the last.
    """
    siblings: dict[str, list[ImportedNode]] = {}
    for node in nodes:
        if node.parent_source_id is not None and _answered_by(node):
            siblings.setdefault(node.parent_source_id, []).append(node)
    last_of: dict[str, str] = {}
    moved: set[str] = set()
    for results in siblings.values():
        if len(results) < 2 or not _are_of_different_calls(results):
            continue
        for before, node in pairwise(results):
            node.parent_source_id = before.source_id
            moved.add(node.source_id)
            last_of[before.source_id] = results[-1].source_id
    for node in nodes:
        if node.parent_source_id in last_of and node.source_id not in moved:
            node.parent_source_id = last_of[node.parent_source_id]


def _answered_by(node: ImportedNode) -> list[str | None]:
    """The calls that a record answers. Words may stand beside its results."""
    parts = node.message.parts if node.message else []
    return [part.tool_call_id for part in parts if part.type == PartType.TOOL_RESULT]


def _are_of_different_calls(results: Sequence[ImportedNode]) -> bool:
    ids = [call_id for node in results for call_id in _answered_by(node)]
    return len(ids) == len(set(ids))
