"""How a Responses answer ended, read from its JSON or put together from its events."""

from collections.abc import Mapping, Sequence

from conversations.drafts import MessageDraft, PartDraft
from conversations.vocabulary import GenerationStatus, PartType, Role
from conversations.wire.answers import failure_of, word
from conversations.wire.cuts import FramedMessage, call_key, detect_style, merge_turn
from conversations.wire.pairing import cut_off
from conversations.wire.requests import build_answer
from conversations.wire.responses_items import DIALECT, READ_ITEMS, frame_item
from conversations.wire.shapes import ParsedResponse, Style, WireError
from conversations.wire.slices import Item, Sliced, slice_json
from conversations.wire.usage import openai_responses_usage

_ENDINGS: Mapping[str, GenerationStatus] = {
    "completed": GenerationStatus.COMPLETE,
    "incomplete": GenerationStatus.TRUNCATED,
    "failed": GenerationStatus.FAILED,
    "cancelled": GenerationStatus.CANCELLED,
    "queued": GenerationStatus.QUEUED,
    "in_progress": GenerationStatus.STREAMING,
}
_UNFINISHED = ("in_progress", "incomplete")


def read_answer(text: str, *, ending: str = "") -> ParsedResponse:
    """Read a JSON answer; raises WireError if it is not one whole JSON object.

    `ending` is the status where the answer itself does not say one.
    """
    sliced = slice_json(text, {"output": READ_ITEMS})
    error = sliced.value("error")
    output = sliced.value("output")
    if not isinstance(output, Sliced):
        if error is not None:
            return failure_of(error)
        raise WireError("an answer without output", place="output")
    status = word(sliced.value("status")) or ending
    answer = ParsedResponse(
        status=_ENDINGS.get(status, GenerationStatus.COMPLETE),
        message=read_output(text, output.items, detect_style(text, sliced)),
        served_model=word(sliced.value("model")),
        provider_response_id=word(sliced.value("id")),
        service_tier=word(sliced.value("service_tier")),
    )
    conversation = sliced.value("conversation")
    answer.hosted_conversation_id = word(
        conversation.get("id") if isinstance(conversation, Mapping) else conversation
    )
    _end(answer, sliced, status)
    items = [item.value for item in output.items if isinstance(item.value, dict)]
    cut_unfinished_calls(answer, [item for item in items if item.get("status") in _UNFINISHED])
    _read_usage(answer, sliced.value("usage"), output.items)
    return answer


def read_output(text: str, items: Sequence[Item], style: Style) -> MessageDraft | None:
    """All items of one answer as the one message they are."""
    server_calls: set[str] = set()
    framed = [frame_item(text, item, 0, style, server_calls=server_calls) for item in items if _is_item(item)]
    if not framed:
        return None
    pieces = [_as_answered(piece) for piece in framed]
    whole = pieces[0] if len(pieces) == 1 else merge_turn(text, pieces, style)
    return build_answer(whole, dialect=DIALECT)


def _is_item(item: Item) -> bool:
    return isinstance(item.value, Sliced | dict)


def _as_answered(piece: FramedMessage) -> FramedMessage:
    """An answer is the model's side, whatever the item: an output in it comes from the provider's tools."""
    for part in piece.parts:
        if part.type == PartType.TOOL_RESULT:
            part.type = PartType.SERVER_TOOL_RESULT
    return piece._replace(role=Role.ASSISTANT, provider_role="")


def _end(answer: ParsedResponse, sliced: Sliced, status: str) -> None:
    answer.stop_reason = status
    error = sliced.value("error")
    if error is not None:
        failure = failure_of(error)
        answer.error_code, answer.error_message = failure.error_code, failure.error_message
    details = sliced.value("incomplete_details")
    if isinstance(details, Mapping) and details.get("reason"):
        answer.stop_reason = word(details["reason"])
        if answer.stop_reason == "content_filter":
            answer.status = GenerationStatus.REFUSED
    parts = answer.message.parts if answer.message else []
    if answer.status == GenerationStatus.COMPLETE and any(p.provider_type == "refusal" for p in parts):
        answer.status = GenerationStatus.REFUSED


def cut_unfinished_calls(answer: ParsedResponse, items: Sequence[Mapping[str, object]]) -> None:
    """A call that is among the unfinished items is no call."""
    unfinished = {call_key(item.get("call_id")) or call_key(item.get("id")) for item in items}
    for part in answer.message.parts if answer.message else ():
        if part.tool_call_id in unfinished or (items and part.is_minted_id):
            cut_call(answer, part)


def cut_call(answer: ParsedResponse, part: PartDraft) -> None:
    if part.type in (PartType.TOOL_USE, PartType.SERVER_TOOL_USE):
        cut_off(part)
        answer.notes.append(f"the call of {part.tool_name or 'a tool'} was cut off")


def _read_usage(answer: ParsedResponse, usage: object, items: Sequence[Item]) -> None:
    if not isinstance(usage, Mapping):
        return
    answer.usage = openai_responses_usage(usage)
    # Searches are billed by the call and stand in no usage.
    searches = [
        item.value
        for item in items
        if isinstance(item.value, dict) and item.value.get("type") == "web_search_call"
    ]
    answer.usage.web_searches = len(searches)
