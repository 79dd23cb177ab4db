"""Judge a path, or a request, by the structural rules of the provider it is for."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from conversations.drafts import MessageDraft
from conversations.vocabulary import Dialect
from conversations.wire.rules import calls, contents, server_tools, thinking
from conversations.wire.rules.context import Context, take_turns
from conversations.wire.shapes import ParsedRequest, Violation, WireError
from conversations.wire.slices import read_json

type Rule = Callable[[Context], Iterator[Violation]]

_EVERYWHERE: tuple[Rule, ...] = (
    calls.calls_are_answered,
    calls.results_answer_calls,
    calls.one_result_for_each_call,
    calls.ids_are_unique,
    calls.calls_have_ids,
    calls.sides_are_right,
    calls.names_are_spelled_right,
    contents.text_is_unicode,
)
_ANTHROPIC: tuple[Rule, ...] = (
    calls.results_come_first,
    calls.results_are_together,
    calls.no_text_after_calls,
    calls.ids_are_spelled_right,
    calls.inputs_are_objects,
    calls.errors_say_something,
    contents.texts_are_not_blank,
    contents.messages_are_not_empty,
    contents.last_text_is_trimmed,
    contents.last_message_is_no_prefill,
    contents.documents_are_given_to_the_model,
    contents.system_messages_have_their_place,
    contents.compaction_stands_alone,
    server_tools.server_results_follow_calls,
    server_tools.server_calls_are_resolved,
    thinking.thinking_comes_first,
    thinking.tool_loop_keeps_thinking,
    thinking.thinking_is_allowed,
)
_RULES: Mapping[Dialect, tuple[Rule, ...]] = {
    Dialect.ANTHROPIC_MESSAGES: _EVERYWHERE + _ANTHROPIC,
    Dialect.OPENAI_CHAT: (*_EVERYWHERE, calls.results_come_first, calls.results_hold_text),
    Dialect.OPENAI_RESPONSES: (*_EVERYWHERE, contents.reasoning_is_followed),
}


def find_violations(
    messages: Sequence[MessageDraft],
    *,
    dialect: Dialect,
    names: Sequence[str] | None = None,
    tools: frozenset[str] | None = None,
    is_thinking: bool | None = None,
    is_whole: bool = True,
) -> list[Violation]:
    """Give every rule that the path breaks, in the order of their places.

    `names` says how to call each message in places and explanations; without
    it, by its index in the request. `messages` runs from the root, unless
    `is_whole` is false: then the provider holds what came before.
    """
    context = Context(
        messages=messages,
        dialect=dialect,
        names=names or [_name(message, index) for index, message in enumerate(messages)],
        turns=take_turns(messages),
        tools=tools,
        is_thinking=is_thinking,
        is_whole=is_whole,
    )
    found = [violation for rule in _RULES[dialect] for violation in rule(context)]
    order = {name: index for index, name in enumerate(context.names)}
    return sorted(found, key=lambda violation: _place_key(violation.place, order))


def find_request_violations(request: ParsedRequest) -> list[Violation]:
    """Judge a whole request, with what its envelope says about tools and thinking."""
    is_hosted = bool(request.previous_response_id or request.hosted_conversation_id)
    found = find_violations(
        request.messages,
        dialect=request.dialect,
        tools=declared_tools(request.tools),
        is_thinking=_thinking_switch(request.envelope),
        is_whole=not is_hosted,
    )
    if request.previous_response_id and request.hosted_conversation_id:
        explanation = "previous_response_id and conversation exclude each other"
        found.insert(0, Violation("one-hosted-history", "refuse", "previous_response_id", explanation))
    return found


def declared_tools(tools: bytes | None) -> frozenset[str]:
    """The names in a request's `tools`, whichever dialect writes them."""
    try:
        listed = read_json((tools or b"[]").decode())
    except (WireError, UnicodeDecodeError):
        return frozenset()
    names = set()
    for tool in listed if isinstance(listed, list) else []:
        if isinstance(tool, dict):
            function = tool.get("function")
            name = tool.get("name") or (function.get("name") if isinstance(function, dict) else None)
            names.add(str(name or tool.get("type")))
    return frozenset(names)


def _thinking_switch(envelope: bytes) -> bool | None:
    """Whether the request switches thinking on; only the manual switch makes rules of its own."""
    text = envelope.decode("utf-8", "replace")
    for mark in "\x01\x02\x03\x04":
        text = text.replace(mark, "" if mark in "\x01\x03" else "null")
    try:
        body = read_json(text)
    except WireError:
        return None
    thinking_member = body.get("thinking") if isinstance(body, dict) else None
    kind = thinking_member.get("type") if isinstance(thinking_member, dict) else None
    return {"enabled": True, "disabled": False}.get(str(kind))


def _name(message: MessageDraft, index: int) -> str:
    return f"messages.{index if message.wire_index is None else message.wire_index}"


def _place_key(place: str, order: Mapping[str, int]) -> tuple[int, int]:
    name, _, ordinal = place.partition(".content.")
    return order.get(name, -1), int(ordinal) if ordinal.isdigit() else -1
