"""One message composed from blocks: typed ones as the dialect writes them, raw ones as they are.

The blocks are framed as the message of a request body and cut as any body is cut, so a composed
message has the same parts, ids and digests as one that was recorded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from json import JSONDecoder
from typing import Final

from conversations.drafts import MessageDraft
from conversations.imports.exact_json import dump
from conversations.replay.images import image_block
from conversations.vocabulary import Dialect, PartType, Role
from conversations.wire.dialects import module_for
from conversations.wire.forms import text_type
from conversations.wire.shapes import WireError
from conversations.wire.slices import read_json

# What says nothing of a dialect is written so; `replay.translate` says it in any other.
NEUTRAL: Final = Dialect.ANTHROPIC_MESSAGES
# A request's leading system messages are its preamble: behind a person's word none is. The dash that is
# no ASCII says how the body is spelt: a block that escapes what it need not is then kept as it is.
_AHEAD: Final = '{"role":"user","content":"–"}'
# Blocks of Responses that stand inside a message item; all others are items of their own.
_CONTENT: Final = frozenset(
    {"text", "input_text", "output_text", "refusal", "input_image", "input_file", "input_audio"}
)


@dataclass(frozen=True, slots=True)
class SaidBlock:
    """One block: of a type, or `literal`, the block's own JSON as the dialect writes it.

    `text` is what a text or a result says, `arguments` a call's as JSON text, `data` base64.
    """

    type: PartType | None = None
    literal: str = ""
    text: str = ""
    call_id: str = ""
    name: str = ""
    arguments: str = "{}"
    is_error: bool = False
    media_type: str = ""
    data: str = ""
    url: str = ""


class ComposingError(WireError):
    """Blocks that make no single message of the dialect; `place` is the block's number, from 0."""


def compose_body(blocks: Sequence[SaidBlock], *, role: Role, dialect: Dialect | None) -> bytes:
    """Return a request body of the dialect that holds one message made of the blocks."""
    written = dialect or NEUTRAL
    literals = [_literal(block, place, role=role, dialect=written) for place, block in enumerate(blocks)]
    messages = ",".join([_AHEAD, *_FRAMES[written](literals, role)])
    key = "input" if written == Dialect.OPENAI_RESPONSES else "messages"
    return f'{{"{key}":[{messages}]}}'.encode("utf-8", "backslashreplace")


def read_composed(body: bytes, *, role: Role, dialect: Dialect | None) -> MessageDraft:
    """Cut a body that `compose_body` made; raises ComposingError where its blocks make several messages."""
    messages: list[MessageDraft] = module_for(dialect or NEUTRAL).parse_request(body).messages[1:]
    if not messages:
        return MessageDraft(role=role)
    draft = messages[0]
    if len(messages) > 1:
        if any(message.role != Role.TOOL or message.shell is not None for message in messages):
            raise ComposingError("these blocks are several messages in this dialect: send them one by one")
        # Each result is a message of its own on the wire; here they are said in one go.
        draft.parts = [part for message in messages for part in message.parts]
    if dialect is None:
        draft.role, draft.provider_role, draft.shell = role, "", None
    draft.wire_index = None
    for place, part in enumerate(draft.parts):
        if part.orphan or part.is_minted_id:
            reason = (
                "one message holds the same call id twice"
                if part.tool_call_id and not part.is_minted_id
                else "a call and a result need the call's id"
            )
            raise ComposingError(reason, place=str(place))
    return draft


@dataclass(frozen=True, slots=True)
class _Literal:
    """A block's JSON, and where its dialect puts it: in the content, beside it, or as a message."""

    text: str
    stands: str


def _literal(block: SaidBlock, place: int, *, role: Role, dialect: Dialect) -> _Literal:
    if block.literal:
        value = _read(block.literal, "the block", place)
        if not isinstance(value, dict):
            raise ComposingError("a block is a JSON object", place=str(place))
        return _Literal(block.literal, _stands(value, dialect))
    if block.type == PartType.TOOL_USE:
        _read(block.arguments, "the arguments", place)
        return _Literal(_call(block, dialect), _CALLS_STAND[dialect])
    if block.type == PartType.TOOL_RESULT:
        return _Literal(_dumped(_result(block, dialect)), _RESULTS_STAND[dialect])
    if block.type == PartType.DOCUMENT and dialect == Dialect.OPENAI_CHAT and not block.data:
        raise ComposingError("this dialect takes no document by its address", place=str(place))
    return _Literal(_dumped(_content(block, role, dialect)), "content")


def _read(text: str, name: str, place: int) -> object:
    try:
        value = read_json(text)
        # What Python reads beyond JSON: no provider takes it.
        _STRICT.decode(text)
    except WireError as error:
        raise ComposingError(f"{name} is no JSON: {error}", place=str(place)) from error
    return value


def _refuse(constant: str) -> object:
    raise WireError(f"{constant} is no number of JSON")


_STRICT: Final = JSONDecoder(parse_constant=_refuse, parse_int=str, parse_float=str)


def _stands(value: dict[str, object], dialect: Dialect) -> str:
    if dialect == Dialect.OPENAI_RESPONSES:
        return "content" if value.get("type") in _CONTENT else "item"
    if dialect == Dialect.OPENAI_CHAT:
        if value.get("role") == "tool":
            return "item"
        return "call" if "function" in value or "custom" in value else "content"
    return "content"


_CALLS_STAND: Final = {
    Dialect.ANTHROPIC_MESSAGES: "content",
    Dialect.OPENAI_CHAT: "call",
    Dialect.OPENAI_RESPONSES: "item",
}
_RESULTS_STAND: Final = {
    Dialect.ANTHROPIC_MESSAGES: "content",
    Dialect.OPENAI_CHAT: "item",
    Dialect.OPENAI_RESPONSES: "item",
}


def _call(block: SaidBlock, dialect: Dialect) -> str:
    call_id, name = _dumped(block.call_id), _dumped(block.name)
    if dialect == Dialect.ANTHROPIC_MESSAGES:
        return f'{{"type":"tool_use","id":{call_id},"name":{name},"input":{block.arguments}}}'
    spelt = _dumped(block.arguments)
    if dialect == Dialect.OPENAI_RESPONSES:
        return f'{{"type":"function_call","call_id":{call_id},"name":{name},"arguments":{spelt}}}'
    return f'{{"id":{call_id},"type":"function","function":{{"name":{name},"arguments":{spelt}}}}}'


def _result(block: SaidBlock, dialect: Dialect) -> dict[str, object]:
    if dialect == Dialect.ANTHROPIC_MESSAGES:
        failed = {"is_error": True} if block.is_error else {}
        return {"type": "tool_result", "tool_use_id": block.call_id, "content": block.text, **failed}
    if dialect == Dialect.OPENAI_CHAT:
        return {"role": "tool", "tool_call_id": block.call_id, "content": block.text}
    # Responses has no mark for a failed result but the item's own status.
    ending = {"status": "incomplete"} if block.is_error else {}
    return {"type": "function_call_output", "call_id": block.call_id, "output": block.text, **ending}


def _content(block: SaidBlock, role: Role, dialect: Dialect) -> dict[str, object]:
    if block.type == PartType.TEXT:
        return {"type": text_type(dialect, role), "text": block.text}
    source: dict[str, object] = {"type": "url", "url": block.url}
    if block.data:
        source = {"type": "base64", "media_type": block.media_type, "data": block.data}
    if block.type == PartType.IMAGE:
        return image_block({"type": "image", "source": source}, dialect)
    if dialect == Dialect.ANTHROPIC_MESSAGES:
        return {"type": "document", "source": source}
    file: dict[str, object] = {"filename": block.name or "document"}
    file |= {"file_data": f"data:{block.media_type};base64,{block.data}"} if block.data else {}
    if dialect == Dialect.OPENAI_CHAT:
        return {"type": "file", "file": file}
    return {"type": "input_file", **(file if block.data else {"file_url": block.url})}


def _dumped(value: object) -> str:
    return dump(value).decode()


def _frame_anthropic(literals: Sequence[_Literal], role: Role) -> Iterator[str]:
    # Results stand in the user's message.
    name = Role.USER if role == Role.TOOL else role
    yield _listed(name, literals)


def _frame_chat(literals: Sequence[_Literal], role: Role) -> Iterator[str]:
    calls = [literal for literal in literals if literal.stands == "call"]
    content = [literal for literal in literals if literal.stands == "content"]
    yield from (literal.text for literal in literals if literal.stands == "item")
    if calls:
        said = f"[{_joined(content)}]" if content else "null"
        yield f'{{"role":"{role}","content":{said},"tool_calls":[{_joined(calls)}]}}'
    elif content or role != Role.TOOL:
        yield _listed(role, content)


def _frame_responses(literals: Sequence[_Literal], role: Role) -> Iterator[str]:
    for stands, run in groupby(literals, key=lambda literal: literal.stands):
        if stands == "item":
            yield from (literal.text for literal in run)
        else:
            yield _listed(Role.USER if role == Role.TOOL else role, list(run))


_FRAMES: Final = {
    Dialect.ANTHROPIC_MESSAGES: _frame_anthropic,
    Dialect.OPENAI_CHAT: _frame_chat,
    Dialect.OPENAI_RESPONSES: _frame_responses,
}


def _listed(role: Role, literals: Sequence[_Literal]) -> str:
    return f'{{"role":"{role}","content":[{_joined(literals)}]}}'


def _joined(literals: Sequence[_Literal]) -> str:
    return ",".join(literal.text for literal in literals)
