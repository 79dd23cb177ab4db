"""How an Anthropic answer ended, read from its JSON or put together from its events."""

from collections.abc import Mapping

from conversations.drafts import MessageDraft, PartDraft
from conversations.vocabulary import GenerationStatus, PartType, Role
from conversations.wire.answers import failure_of, word
from conversations.wire.anthropic_blocks import RULES
from conversations.wire.blocks import cut_content
from conversations.wire.cuts import detect_style
from conversations.wire.pairing import cut_off, settle_calls
from conversations.wire.shapes import ParsedResponse, WireError
from conversations.wire.slices import read_list, slice_json
from conversations.wire.usage import anthropic_usage

_ENDINGS: Mapping[str, GenerationStatus] = {
    "max_tokens": GenerationStatus.TRUNCATED,
    "model_context_window_exceeded": GenerationStatus.TRUNCATED,
    "refusal": GenerationStatus.REFUSED,
}


def read_answer(text: str) -> ParsedResponse:
    """Read a JSON answer; raises WireError if it is not one whole JSON object."""
    sliced = slice_json(text, {"content": read_list()})
    if sliced.value("type") == "error" or sliced.value("error") is not None:
        return failure_of(sliced.value("error"))
    if sliced.last("content") is None:
        raise WireError("an answer without content", place="content")
    style = detect_style(text, sliced)
    parts, _ = cut_content(text, sliced.last("content"), rules=RULES, role=Role.ASSISTANT, style=style)
    answer = ParsedResponse(
        status=GenerationStatus.COMPLETE,
        message=MessageDraft(Role.ASSISTANT, parts),
        served_model=word(sliced.value("model")),
        provider_response_id=word(sliced.value("id")),
    )
    settle_calls(parts)
    end_answer(answer, sliced.value("stop_reason"), sliced.value("stop_details"))
    if answer.status == GenerationStatus.TRUNCATED and parts:
        # The API closes the braces of a call that it had to cut, so that it looks whole.
        cut_last_call(answer, parts[-1])
    read_usage(answer, sliced.value("usage"))
    return answer


def end_answer(answer: ParsedResponse, stop_reason: object, details: object) -> None:
    """Fill in how the answer ended; without a stop reason it did not."""
    answer.stop_reason = word(stop_reason)
    if not answer.stop_reason:
        answer.status = GenerationStatus.INTERRUPTED
        answer.notes.append("the answer has no stop reason")
        return
    answer.status = _ENDINGS.get(answer.stop_reason, GenerationStatus.COMPLETE)
    if answer.status == GenerationStatus.REFUSED and isinstance(details, Mapping):
        answer.error_code = word(details.get("category"))
        explanation = details.get("explanation")
        answer.error_message = explanation if isinstance(explanation, str) else ""


def cut_last_call(answer: ParsedResponse, part: PartDraft) -> None:
    if part.type in (PartType.TOOL_USE, PartType.SERVER_TOOL_USE):
        cut_off(part)
        answer.notes.append(f"the call of {part.tool_name or 'a tool'} was cut off")


def read_usage(answer: ParsedResponse, usage: object) -> None:
    if isinstance(usage, Mapping):
        answer.usage = anthropic_usage(usage)
        answer.service_tier = word(usage.get("service_tier"))
