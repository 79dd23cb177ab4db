"""How a Chat Completions answer ended, read from its JSON or put together from its chunks."""

from collections.abc import Mapping, Sequence

from conversations.drafts import MessageDraft, PartDraft
from conversations.vocabulary import GenerationStatus, PartType, Role
from conversations.wire.answers import failure_of, word
from conversations.wire.chat_messages import DIALECT, READ_MESSAGE, frame_message
from conversations.wire.cuts import detect_style
from conversations.wire.pairing import cut_off
from conversations.wire.requests import build_answer
from conversations.wire.shapes import ParsedResponse, Style, WireError
from conversations.wire.shells import FORM_STRING
from conversations.wire.slices import Item, Sliced, read_json, read_list, read_object, slice_json
from conversations.wire.usage import openai_chat_usage

_CHOICES = {"choices": read_list(read_object({"message": READ_MESSAGE}))}
_ENDINGS: Mapping[str, GenerationStatus] = {
    "length": GenerationStatus.TRUNCATED,
    "content_filter": GenerationStatus.REFUSED,
    "error": GenerationStatus.FAILED,  # said so by gateways
}


def read_answer(text: str) -> ParsedResponse:
    """Read a JSON answer; raises WireError if it is not one whole JSON object."""
    sliced = slice_json(text, _CHOICES)
    if sliced.value("error") is not None:
        return failure_of(sliced.value("error"))
    choices = _choices(sliced)
    answer = ParsedResponse(
        status=GenerationStatus.INTERRUPTED,
        message=None,
        served_model=word(sliced.value("model")),
        provider_response_id=word(sliced.value("id")),
        service_tier=word(sliced.value("service_tier")),
    )
    usage = sliced.value("usage")
    answer.usage = openai_chat_usage(usage) if isinstance(usage, Mapping) else None
    if not choices:
        answer.notes.append("the answer has no choices")
        return answer
    style = detect_style(text, sliced)
    drafts = [_read_message(text, choice, style) for choice in choices]
    answer.message, answer.alternatives = drafts[0], [draft for draft in drafts[1:] if draft is not None]
    if answer.alternatives:
        further = len(answer.alternatives)
        answer.notes.append(f"{further} more choices were answered; they are in the answer as received")
    end_answer(answer, choices[0].value("finish_reason"))
    return answer


def end_answer(answer: ParsedResponse, finish_reason: object) -> None:
    """Fill in how the answer ended; without a finish reason it did not."""
    answer.stop_reason = word(finish_reason)
    parts = answer.message.parts if answer.message else []
    if not answer.stop_reason:
        answer.status = GenerationStatus.INTERRUPTED
        answer.notes.append("the answer has no finish reason")
    else:
        answer.status = _ENDINGS.get(answer.stop_reason, GenerationStatus.COMPLETE)
    if answer.status in (GenerationStatus.INTERRUPTED, GenerationStatus.TRUNCATED):
        cut_last_call(answer, parts)
    elif any(part.provider_type == "refusal" for part in parts):
        answer.status = GenerationStatus.REFUSED


def cut_last_call(answer: ParsedResponse, parts: Sequence[PartDraft]) -> None:
    """Where the answer broke off in a call's arguments, the call is none."""
    if parts and parts[-1].type == PartType.TOOL_USE and not _has_whole_arguments(parts[-1]):
        cut_off(parts[-1])
        answer.notes.append(f"the call of {parts[-1].tool_name or 'a tool'} was cut off")


def _has_whole_arguments(part: PartDraft) -> bool:
    call = read_json((part.payload or b"null").decode())
    if not isinstance(call, Mapping):
        return False
    function = call if part.provider_type == "function_call" else call.get("function")
    arguments = function.get("arguments") if isinstance(function, Mapping) else None
    try:
        return isinstance(arguments, str) and isinstance(read_json(arguments), dict)
    except WireError:
        return False


def _choices(sliced: Sliced) -> list[Sliced]:
    listed = sliced.value("choices")
    if not isinstance(listed, Sliced):
        raise WireError("an answer without choices", place="choices")
    choices = [item.value for item in listed.items if isinstance(item.value, Sliced)]
    return sorted(choices, key=lambda choice: index if isinstance(index := choice.value("index"), int) else 0)


def _read_message(text: str, choice: Sliced, style: Style) -> MessageDraft | None:
    member = choice.last("message")
    if member is None or not isinstance(member.value, Sliced):
        return None
    framed = frame_message(text, Item(member.value_start, member.end, member.value), 0, style)
    draft = build_answer(framed._replace(role=Role.ASSISTANT, provider_role=""), dialect=DIALECT)
    if _is_plain(member.value):
        # Empty members that only answers carry, and their order, are no part of what was said.
        draft.parts.sort(key=lambda part: part.type == PartType.TOOL_USE)
        has_calls = any(part.type == PartType.TOOL_USE for part in draft.parts)
        draft.shell = None if has_calls else FORM_STRING
    return draft


def _is_plain(message: Sliced) -> bool:
    """Whether the message is a text as a string, calls, or both, and nothing else."""
    content = message.value("content")
    calls = message.value("tool_calls")
    has_calls = isinstance(calls, Sliced) and bool(calls.items)
    if not isinstance(content, str) and not (content is None and has_calls):
        return False
    return message.value("role") == Role.ASSISTANT and all(
        member.key in ("role", "content", "tool_calls") or member.value in (None, [])
        for member in message.members
    )
