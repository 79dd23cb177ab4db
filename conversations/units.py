"""Units of a history: what of a message, a call and a result carries identity, by value."""

import re
from collections.abc import Sequence
from functools import lru_cache

from conversations.canonical_json import JsonValue, canonical_bytes, parse_value
from conversations.drafts import HOLE_STRING, MessageDraft, PartDraft
from conversations.vocabulary import PartStatus, PartType, Role
from conversations.wire.shapes import COMPACT
from conversations.wire.shells import RUN, fill_strings

# Spelt differently by dialect and direction, one meaning: a path may cross providers.
_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
# What a result's block says besides its content; the call's id stands in the unit apart.
_RESULT_ENVELOPE = frozenset(
    {
        "type",
        "role",
        "tool_use_id",
        "tool_call_id",
        "call_id",
        "content",
        "output",
        "is_error",
        "id",
        "status",
    }
)
# What a call's block says besides its arguments, for kinds that name them differently.
_CALL_ENVELOPE = frozenset(
    {"type", "id", "call_id", "name", "status", "caller", "namespace", "cache_control"}
)
# The shell of a result that says whose it is and one plain string, no more; and how the shell of any
# result ends whose content is one plain string.
_match_bare_result = re.compile(
    rf'{{"type": ?"tool_result", ?"tool_use_id": ?"[^"\\\x00-\x1f]*", ?"content": ?{HOLE_STRING}}}'
).fullmatch
_PLAIN_CONTENTS = tuple(f'"content":{space}{HOLE_STRING}}}' for space in ("", " "))
_ARGUMENT_FIELDS = ("input", "arguments", "action", "operation")


def turn_unit(calls: Sequence[bytes], texts: Sequence[str]) -> bytes | None:
    """Give an assistant turn's unit; None where nothing in it carries identity."""
    if calls:
        return b'["assistant","calls",' + b",".join(calls) + b"]"
    # A blank block goes missing in an echo without a trace: it is no part of the text.
    text = "".join(piece for piece in texts if piece.strip()).strip()
    return canonical_bytes(["assistant", "text", text]) if text else None


def call_unit(part: PartDraft) -> bytes:
    """Give a client call's identity: id, name and arguments by value."""
    # A minted id is ours, not the client's: the next request does not know it.
    call_id = "" if part.is_minted_id else part.tool_call_id or ""
    try:
        return canonical_bytes([call_id, part.tool_name or "", call_arguments(part)])
    except (ValueError, RecursionError):
        return _unreadable(part)


def block_units(message: MessageDraft) -> list[bytes]:
    """Give the units of a message that is no assistant's, in order."""
    speaker = "system" if message.role in (Role.SYSTEM, Role.DEVELOPER) else "user"
    units = []
    for part in message.parts:
        if part.type == PartType.TEXT and not part_text(part).strip():
            continue
        try:
            units.append(canonical_bytes(_part_value(part, speaker)))
        except (ValueError, RecursionError):
            units.append(_unreadable(part))
    return units


def _part_value(part: PartDraft, speaker: str) -> JsonValue:
    if part.type == PartType.TOOL_RESULT:
        return _result_value(part)
    if part.type == PartType.TEXT:
        return [speaker, _text_value(part)]
    return [speaker, _without_noise(_block_value(part))]


def _unreadable(part: PartDraft) -> bytes:
    """A block that is no JSON, or nested past any reader's depth, is compared by its bytes."""
    literal = part.payload if part.payload is not None else f"{part.shell}{part.text}".encode()
    return b"unreadable:" + literal


def part_text(part: PartDraft) -> str:
    """Give the text of a text part as it was sent, also where PostgreSQL holds a marked copy only."""
    if _is_plain_text(part):
        return part.text or ""
    try:
        value = _block_value(part)
    except ValueError:
        return part.text or ""
    if isinstance(value, dict):
        value = value.get("text", value.get("refusal"))
    return value if isinstance(value, str) else part.text or ""


def _is_plain_text(part: PartDraft) -> bool:
    """Whether the part's text is the block's text: no marked copy, no several strings in one column."""
    return part.text is not None and not part.is_text_copy and (part.shell is None or RUN not in part.shell)


def _text_value(part: PartDraft) -> JsonValue:
    if _is_plain_text(part):
        extras = {} if part.shell is None else _shell_extras(part.shell)
        return {"type": "text", "text": part.text, **extras}
    value = _block_value(part)
    return _without_noise(value) if isinstance(value, dict) else {"type": "text", "text": value}


@lru_cache(maxsize=1024)
def _shell_extras(shell: str) -> dict[str, JsonValue]:
    """Give what a text block says besides its text; shells repeat, so the answer is kept."""
    value = _without_noise(parse_value(fill_strings(shell, "", COMPACT).encode()))
    if not isinstance(value, dict):
        return {}
    return {key: item for key, item in value.items() if key not in ("type", "text")}


def _result_value(part: PartDraft) -> JsonValue:
    value = _plain_result(part) or _block_value(part)
    extras: dict[str, JsonValue] = {}
    is_error = part.status == PartStatus.ERROR
    if isinstance(value, dict):
        content = value.get("content", value.get("output"))
        extras = _kept_members({k: v for k, v in value.items() if k not in _RESULT_ENVELOPE})
        is_error = is_error or value.get("is_error") is True
    else:
        content = value
    call_id = "" if part.is_minted_id else part.tool_call_id or ""
    return ["result", call_id, _content_value(content), is_error, extras]


def _plain_result(part: PartDraft) -> dict[str, JsonValue] | None:
    """Read a result whose content is one plain string without spelling and parsing the string."""
    shell = part.shell
    if shell is None or not _is_plain_text(part) or not shell.endswith(_PLAIN_CONTENTS):
        return None
    if _match_bare_result(shell):
        return {"content": part.text}
    value = parse_value(shell.replace(HOLE_STRING, '""').encode())
    if not isinstance(value, dict):
        return None
    value["content"] = part.text
    return value


def _content_value(content: JsonValue) -> JsonValue:
    """Give a result's content as a list of blocks: a string is one text block, null is none."""
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return _without_noise(content)


def call_arguments(part: PartDraft) -> JsonValue:
    """Give a client call's arguments by value, whatever stands around them; ValueError if unreadable."""
    value = _block_value(part)
    if not isinstance(value, dict):
        return value
    inner = value
    for wrapper in ("function", "custom"):
        if isinstance(wrapped := value.get(wrapper), dict):
            inner = wrapped
    for name in _ARGUMENT_FIELDS:
        if name in inner:
            return _argument_value(inner[name])
    return {key: item for key, item in inner.items() if key not in _CALL_ENVELOPE}


def _argument_value(arguments: JsonValue) -> JsonValue:
    """Give arguments by value: the string that a model wrote counts as the JSON in it, if it is any."""
    if not isinstance(arguments, str):
        return arguments
    if not arguments.strip():
        return {}
    try:
        return parse_value(arguments.encode("utf-8", "surrogatepass"))
    except ValueError:
        return arguments


def _without_noise(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return _kept_members(value)
    if isinstance(value, list):
        return [_without_noise(item) for item in value]
    return value


def _kept_members(block: dict[str, JsonValue]) -> dict[str, JsonValue]:
    kept = {
        key: _without_noise(item)
        for key, item in block.items()
        if item is not None and key != "cache_control"
    }
    kind = block.get("type")
    if isinstance(kind, str):
        if kind in _TEXT_TYPES:
            kept["type"] = "text"
        elif kind == "message" or kind.endswith("_output"):
            # Minted by the provider when it stores the item; the client never sent them.
            kept.pop("id", None)
            kept.pop("status", None)
    return kept


def _block_value(part: PartDraft) -> JsonValue:
    if part.payload is not None:
        return parse_value(part.payload)
    if part.text is None or part.shell is None:
        return part.text
    return parse_value(fill_strings(part.shell, part.text, COMPACT).encode())
