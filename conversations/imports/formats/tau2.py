"""tau2-bench simulations: dialogues in which the customer may call tools too.

Calls hold their arguments as objects and name who made them; a tool's message
names its call as `id`. Lines of simulations, or a whole result file of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from conversations.drafts import ImportedConversation, ImportedNode, MessageDraft, PartDraft
from conversations.imports import exact_json
from conversations.imports.drafting import (
    as_dict,
    as_list,
    as_text,
    block_part,
    call_part,
    minted_call_id,
    moment_of,
    result_part,
    text_part,
)
from conversations.imports.reading import digest_ref, quarantined, read_each, ref
from conversations.imports.streams import Document, Record
from conversations.imports.trouble import Broken, UnreadableError
from conversations.vocabulary import PartType, Role

LABEL: Final = "tau2-bench simulations"
_KEY: Final = "tau2"
_ROLES: Final = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}


def sniff(records: Sequence[Record]) -> bool:
    return any(_simulations(record.value) for record in records)


def read(document: Document) -> Iterator[ImportedConversation | Broken]:
    occurrences: dict[str, int] = {}
    return read_each(document, lambda record: _conversations(record, occurrences))


def _simulations(value: object) -> list[object]:
    """The simulations of a record, whatever they are; none where not one of them is one."""
    fields = as_dict(value)
    listed = as_list(fields.get("simulations")) or [fields]
    return listed if any(_is_simulation(as_dict(one)) for one in listed) else []


def _is_simulation(value: dict[str, object]) -> bool:
    messages = as_list(value.get("messages"))
    return "task_id" in value and any("turn_idx" in as_dict(message) for message in messages[:5])


def _conversations(record: Record, occurrences: dict[str, int]) -> Iterable[ImportedConversation | Broken]:
    found = _simulations(record.value)
    if not found:
        raise UnreadableError("no simulation with a list of messages")
    for number, one in enumerate(found, start=1):
        simulation = as_dict(one)
        raw = record.raw if len(found) == 1 else exact_json.dump(one)
        if not _is_simulation(simulation):
            yield Broken(f"simulation {number}", "no simulation with a list of messages", raw=raw)
            continue
        key = as_text(simulation.get("id"))
        conversation = ImportedConversation(
            external_ref=ref(_KEY, key) if key else digest_ref(_KEY, raw, occurrences),
            nodes=[],
            started_at=moment_of(simulation.get("start_time")),
            raw=raw,
        )
        conversation.nodes = _nodes(as_list(simulation.get("messages")))
        yield conversation


def _nodes(messages: Sequence[object]) -> list[ImportedNode]:
    nodes: list[ImportedNode] = []
    parent: str | None = None
    for number, value in enumerate(messages, start=1):
        source_id = str(number)
        message = as_dict(value)
        role = _ROLES.get(as_text(message.get("role")))
        if role is None:
            nodes.append(quarantined(source_id, parent, exact_json.dump(value), "a message without a role"))
        else:
            nodes.append(
                ImportedNode(
                    source_id=source_id,
                    parent_source_id=parent,
                    message=MessageDraft(
                        role=role,
                        parts=_parts(source_id, role, message),
                        occurred_at=moment_of(message.get("timestamp")),
                    ),
                    model=as_text(as_dict(message.get("raw_data")).get("model")),
                )
            )
        parent = source_id
    return nodes


def _parts(source_id: str, role: Role, message: dict[str, object]) -> list[PartDraft]:
    if role == Role.TOOL:
        answer = {key: message[key] for key in ("id", "content", "error", "requestor") if key in message}
        error = message.get("error")
        return [
            result_part(
                answer,
                call_id=message.get("id"),
                is_error=error if isinstance(error, bool) else None,
                said_in="content",
                provider_type="tool",
            )
        ]
    parts = [
        block_part(
            PartType.THINKING, block, provider_type=as_text(as_dict(block).get("type")), said_in="thinking"
        )
        for block in as_list(as_dict(message.get("raw_data")).get("thinking_blocks"))
    ]
    content = message.get("content")
    calls = as_list(message.get("tool_calls"))
    if isinstance(content, str) and (content or not calls):
        parts.append(text_part(content))
    elif content is not None and not isinstance(content, str):
        parts.append(block_part(PartType.OTHER, content, provider_type="content"))
    for number, call in enumerate(calls, start=1):
        fields = as_dict(call)
        parts.append(
            call_part(
                call,
                call_id=fields.get("id"),
                name=fields.get("name"),
                minted_id=minted_call_id(source_id, number),
                provider_type="tool_call",
            )
        )
    return parts
