"""Messages of one dialect said in another, for going on with another provider.

What was recorded stays as it is; this makes a body that was never sent. Words,
images, calls and results are carried over. Thinking is sealed for the provider
that made it, and a server tool's doings mean nothing elsewhere: they are left
out, and said so. Numbers are carried over as they were spelt: an amount in a
call's arguments must not be rounded on its way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from conversations.drafts import MessageDraft, PartDraft
from conversations.imports import exact_json
from conversations.imports.drafting import as_dict
from conversations.reads.path import StoredMessage
from conversations.replay.images import image_block
from conversations.units import part_text
from conversations.vocabulary import Dialect, PartStatus, PartType, Role
from conversations.wire.dialects import module_for

type Json = dict[str, object]


@dataclass(slots=True)
class Translated:
    """The path's messages in one dialect, each with the number of the message it came from."""

    messages: list[tuple[int, MessageDraft]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def translate_path(path: Sequence[StoredMessage], *, dialect: Dialect) -> Translated:
    """Return the path in `dialect`; messages that are in it already, or in none, are not touched."""
    translated = Translated()
    for stored in path:
        if stored.dialect in (dialect, None) and not _needs_blocks(stored):
            translated.messages.append((stored.seq, stored.draft))
            continue
        said = _neutral(stored, translated.notes)
        listed = list(_WRITERS[dialect](said))
        translated.messages += [(stored.seq, draft) for draft in _read_back(listed, dialect)]
    return translated


def _needs_blocks(stored: StoredMessage) -> bool:
    """Whether a message of no dialect holds blocks that only a dialect can write."""
    return stored.dialect is None and any(part.type != PartType.TEXT for part in stored.draft.parts)


@dataclass(slots=True)
class _Said:
    """What a message says, in no dialect."""

    role: Role
    texts: list[str] = field(default_factory=list)
    images: list[Json] = field(default_factory=list)
    calls: list[tuple[str, str, str]] = field(default_factory=list)  # id, name, arguments as JSON text
    results: list[tuple[str, str, bool]] = field(default_factory=list)  # id, text, is it an error


def _neutral(stored: StoredMessage, notes: list[str]) -> _Said:
    said = _Said(role=stored.draft.role)
    for ordinal, part in enumerate(stored.draft.parts):
        if part.type == PartType.TEXT:
            said.texts.append(part_text(part))
        elif part.type == PartType.TOOL_USE:
            said.calls.append((part.tool_call_id or "", part.tool_name or "", _arguments(part)))
        elif part.type == PartType.TOOL_RESULT:
            said.results.append(
                (part.tool_call_id or "", _result_text(part), part.status == PartStatus.ERROR)
            )
        elif part.type == PartType.IMAGE and part.payload is not None:
            said.images.append(as_dict(exact_json.load(part.payload)))
        else:
            kind = part.provider_type or part.type
            notes.append(f"message {stored.seq}, block {ordinal}: {kind} cannot be said in another dialect")
    return said


def _arguments(part: PartDraft) -> str:
    value = as_dict(exact_json.load(part.payload or b"null"))
    inner = as_dict(value.get("function")) or as_dict(value.get("custom")) or value
    for name in ("input", "arguments", "action", "operation"):
        if name in inner:
            found = inner[name]
            return found if isinstance(found, str) else exact_json.dump(found).decode()
    return "{}"


def _result_text(part: PartDraft) -> str:
    """The result's words: of a list of blocks, those that are text."""
    if part.payload is None or part.is_text_copy:
        return part.text or ""
    value = exact_json.load(part.payload)
    content = value.get("content", value.get("output")) if isinstance(value, dict) else value
    if isinstance(content, list):
        words = [block.get("text") for block in content if isinstance(block, dict)]
        return "\n".join(word for word in words if isinstance(word, str))
    return content if isinstance(content, str) else exact_json.dump(content).decode()


def _write_anthropic(said: _Said) -> Iterator[Json]:
    if said.role in (Role.SYSTEM, Role.DEVELOPER):
        yield {"role": "system", "content": _text_blocks(said.texts, "text")}
        return
    content: list[Json] = [
        {
            "type": "tool_result",
            "tool_use_id": call_id,
            "content": text,
            **({"is_error": True} if failed else {}),
        }
        for call_id, text, failed in said.results
    ]
    content += [image_block(image, Dialect.ANTHROPIC_MESSAGES) for image in said.images]
    content += _text_blocks(said.texts, "text")
    content += [
        {"type": "tool_use", "id": call_id, "name": name, "input": _as_object(arguments)}
        for call_id, name, arguments in said.calls
    ]
    yield {"role": "assistant" if said.role == Role.ASSISTANT else "user", "content": content}


def _write_chat(said: _Said) -> Iterator[Json]:
    for call_id, text, _ in said.results:
        yield {"role": "tool", "tool_call_id": call_id, "content": text}
    if not (said.texts or said.images or said.calls):
        return
    content: list[Json] = [image_block(image, Dialect.OPENAI_CHAT) for image in said.images]
    content += _text_blocks(said.texts, "text")
    message: Json = {
        "role": "user" if said.role == Role.TOOL else said.role.value,
        "content": content or None,
    }
    if said.calls:
        message["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call_id, name, arguments in said.calls
        ]
    yield message


def _write_responses(said: _Said) -> Iterator[Json]:
    for call_id, text, _ in said.results:
        yield {"type": "function_call_output", "call_id": call_id, "output": text}
    if said.texts or said.images:
        kind = "output_text" if said.role == Role.ASSISTANT else "input_text"
        content: list[Json] = [image_block(image, Dialect.OPENAI_RESPONSES) for image in said.images]
        content += _text_blocks(said.texts, kind)
        yield {"role": "user" if said.role == Role.TOOL else said.role.value, "content": content}
    for call_id, name, arguments in said.calls:
        yield {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


_WRITERS = {
    Dialect.ANTHROPIC_MESSAGES: _write_anthropic,
    Dialect.OPENAI_CHAT: _write_chat,
    Dialect.OPENAI_RESPONSES: _write_responses,
}


def _text_blocks(texts: Sequence[str], kind: str) -> list[Json]:
    return [{"type": kind, "text": text} for text in texts]


def _as_object(arguments: str) -> object:
    """Anthropic takes objects only: arguments that are no JSON object are kept under a name of their own."""
    try:
        value = exact_json.load((arguments or "{}").encode("utf-8", "backslashreplace"))
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"arguments": arguments}


def _read_back(listed: Sequence[Json], dialect: Dialect) -> list[MessageDraft]:
    """Cut the messages as the dialect's own bodies are cut, so that they render like any other."""
    key = "input" if dialect == Dialect.OPENAI_RESPONSES else "messages"
    # What leads a body may be its preamble; behind a person's word nothing is.
    body = {key: [{"role": "user", "content": "-"}, *listed]}
    request = module_for(dialect).parse_request(exact_json.dump(body))
    messages: list[MessageDraft] = request.messages[1:]
    return messages
