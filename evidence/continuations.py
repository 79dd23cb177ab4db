"""Which recorded call goes on from which: judged from the JSON alone, without the store's own matching."""

import json
from collections.abc import Sequence

from evidence.cassettes import RecordedCall

_LISTS = {"anthropic_messages": "messages", "openai_chat": "messages", "openai_responses": "input"}


def continued_calls(call: RecordedCall, earlier: Sequence[RecordedCall]) -> list[int]:
    """Return which earlier calls this one may go on from, by their place in `earlier`.

    Those whose whole history it begins with and which an answer follows there,
    or the one whose answer it names as `previous_response_id`. Several, where the
    same words were sent more than once.
    """
    history = _history(call)
    previous = json.loads(call.request_body).get("previous_response_id")
    found = []
    for index, before in enumerate(earlier):
        if before.dialect != call.dialect or before.http_status != 200:
            continue
        past = _history(before)
        if previous:
            is_continued = f'"{previous}"' in (before.response_body or b"").decode()
        else:
            is_continued = (
                len(past) < len(history) and history[: len(past)] == past and _is_answer(history[len(past)])
            )
        if is_continued:
            found.append(index)
    return found


def holds_an_answer(call: RecordedCall) -> bool:
    """Whether the call goes on from an answer at all: one stands in its history, or it names one."""
    named = json.loads(call.request_body).get("previous_response_id")
    return bool(named) or any(_is_answer(item) for item in _history(call))


def _history(call: RecordedCall) -> list[object]:
    listed = json.loads(call.request_body).get(_LISTS[call.dialect])
    if isinstance(listed, str):
        listed = [{"role": "user", "content": listed}]
    items = [_bare(item) for item in listed or []]
    # What leads is the system's word to the model of the moment: another agent has another.
    while items and isinstance(items[0], dict) and items[0].get("role") in ("system", "developer"):
        del items[0]
    return items


def _bare(value: object) -> object:
    """The value without the marks that move: what was said, not how it is cached."""
    if isinstance(value, dict):
        return {key: _bare(item) for key, item in value.items() if key != "cache_control"}
    if isinstance(value, list):
        return [_bare(item) for item in value]
    return value


def _is_answer(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    kind = item.get("type", "message")
    return item.get("role") == "assistant" or (
        kind != "message" and not str(kind).endswith("_output") and "role" not in item
    )
