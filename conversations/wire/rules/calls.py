"""Calls and their results: every call answered next, once, by the right side."""

import re
from collections.abc import Iterator
from itertools import pairwise

from conversations.vocabulary import Dialect, PartType, Role
from conversations.wire.rules.context import CALLS, RESULTS, Context, Turn, shown
from conversations.wire.shapes import Strength, Violation

_ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]+")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ANTHROPIC_SERVER_ID = "srvtoolu_"


def calls_are_answered(context: Context) -> Iterator[Violation]:
    """Each call is answered in the next turn; at the end of the path it is still open."""
    last = len(context.turns) - 1
    for place, turn in enumerate(context.turns):
        calls = [call for call in turn.of(CALLS) if turn.role == Role.ASSISTANT]
        following = context.turns[place + 1] if place < last else None
        answered = {result.part.tool_call_id for result in following.of(RESULTS)} if following else set()
        # With nothing said after it, an unanswered call is legal to keep but not to send.
        strength: Strength = "refuse" if _goes_on(context, place) else "replay"
        for call in calls:
            if call.part.tool_call_id not in answered and not call.part.orphan:
                yield context.violation(
                    "calls-answered-next", strength, call, f"{shown(call)} has no result in the next message"
                )


def results_answer_calls(context: Context) -> Iterator[Violation]:
    """Each result answers a call of the turn right before it."""
    if context.turns and context.is_whole:
        yield from _stray_results(context, context.turns[0], frozenset())
    for before, turn in pairwise(context.turns):
        calls = before.of(CALLS) if before.role == Role.ASSISTANT else []
        ids = frozenset(call.part.tool_call_id for call in calls if call.part.tool_call_id)
        yield from _stray_results(context, turn, ids)


def _stray_results(context: Context, turn: Turn, ids: frozenset[str]) -> Iterator[Violation]:
    for result in turn.of(RESULTS):
        call_id = result.part.tool_call_id
        if call_id in ids:
            continue
        if call_id is not None and call_id.startswith(_ANTHROPIC_SERVER_ID):
            explanation = f"{call_id} is a call that the provider itself answers"
            yield context.violation("result-of-server-call", "refuse", result, explanation)
        else:
            explanation = f"the result {call_id} answers no call of the message before it"
            yield context.violation("results-answer-previous", "refuse", result, explanation)


def one_result_for_each_call(context: Context) -> Iterator[Violation]:
    for turn in context.turns:
        seen: set[str | None] = set()
        for result in turn.of(RESULTS):
            if result.part.tool_call_id in seen:
                explanation = f"the call {result.part.tool_call_id} has a result already"
                yield context.violation("one-result-per-call", "refuse", result, explanation)
            seen.add(result.part.tool_call_id)


def ids_are_unique(context: Context) -> Iterator[Violation]:
    """Anthropic wants ids unique in the whole request, the others within a message."""
    seen: set[tuple[int, str | None]] = set()
    for call in context.spots():
        if call.part.type not in CALLS:
            continue
        scope = 0 if context.dialect == Dialect.ANTHROPIC_MESSAGES else call.message
        if (scope, call.part.tool_call_id) in seen:
            yield context.violation(
                "call-ids-unique", "refuse", call, f"the call id {call.part.tool_call_id} is used twice"
            )
        seen.add((scope, call.part.tool_call_id))


def calls_have_ids(context: Context) -> Iterator[Violation]:
    """Every provider wants an id on every call; only chat's old function_call has none."""
    for call in context.spots():
        if call.part.type in CALLS and call.part.is_minted_id and call.part.provider_type != "function_call":
            yield context.violation("call-has-id", "refuse", call, f"{shown(call)} came without an id")


def sides_are_right(context: Context) -> Iterator[Violation]:
    """Calls are the assistant's, results are not."""
    results_role = Role.USER if context.dialect == Dialect.ANTHROPIC_MESSAGES else Role.TOOL
    for spot in context.spots():
        role = context.messages[spot.message].role
        if spot.part.type in CALLS and role != Role.ASSISTANT:
            explanation = f"{shown(spot)} stands in a {role} message"
            yield context.violation("calls-by-assistant", "refuse", spot, explanation)
        if spot.part.type in RESULTS and role != results_role:
            explanation = f"a result stands in a {role} message, not in a {results_role} message"
            yield context.violation("results-on-their-side", "refuse", spot, explanation)


def results_come_first(context: Context) -> Iterator[Violation]:
    """In the turn that answers calls, results come before anything else."""
    for before, turn in pairwise(context.turns):
        results = turn.of(RESULTS) if before.of(CALLS) else []
        others = [spot for spot in turn.spots if spot.part.type not in RESULTS]
        if results and others and others[0] < results[-1]:
            explanation = "something stands before a result; results come first"
            yield context.violation("results-come-first", "refuse", others[0], explanation)


def results_are_together(context: Context) -> Iterator[Violation]:
    """The results of one turn belong in one user message."""
    for turn in context.turns:
        results = turn.of(RESULTS)
        for result in results:
            if result.message != results[0].message:
                explanation = "the results of one turn are spread over several messages"
                yield context.violation("results-in-one-message", "warn", result.message, explanation)
                break


def no_text_after_calls(context: Context) -> Iterator[Violation]:
    for turn in context.turns:
        calls = turn.of(CALLS)
        if turn.role != Role.ASSISTANT or not calls:
            continue
        for spot in turn.spots:
            if spot.part.type == PartType.TEXT and spot > calls[0]:
                yield context.violation("no-text-after-calls", "warn", spot, "text stands behind a call")


def ids_are_spelled_right(context: Context) -> Iterator[Violation]:
    for spot in context.spots():
        call_id = spot.part.tool_call_id
        if spot.part.type in CALLS | RESULTS and not (call_id and _ANTHROPIC_ID.fullmatch(call_id)):
            explanation = f"the id {call_id} holds other characters than letters, digits, _ and -"
            yield context.violation("call-id-characters", "refuse", spot, explanation)


def inputs_are_objects(context: Context) -> Iterator[Violation]:
    for call in context.spots():
        if call.part.type in CALLS and not isinstance(context.value(call).get("input"), dict):
            yield context.violation(
                "input-is-object", "refuse", call, f"the input of {shown(call)} is no object"
            )


def errors_say_something(context: Context) -> Iterator[Violation]:
    for result in context.spots():
        if result.part.type not in RESULTS:
            continue
        value = context.value(result)
        if value.get("is_error") is True and not value.get("content"):
            yield context.violation(
                "error-needs-content", "refuse", result, "a result that is an error is empty"
            )


def names_are_spelled_right(context: Context) -> Iterator[Violation]:
    for call in context.spots():
        if call.part.type in CALLS and not _TOOL_NAME.fullmatch(call.part.tool_name or ""):
            explanation = f"{call.part.tool_name or 'an empty name'} is no name that a tool may have"
            yield context.violation("tool-name", "warn", call, explanation)


def results_hold_text(context: Context) -> Iterator[Violation]:
    """Chat: a tool message holds text and nothing else."""
    for result in context.spots():
        content = context.value(result).get("content") if result.part.type in RESULTS else None
        blocks = content if isinstance(content, list) else []
        if any(isinstance(block, dict) and block.get("type") != "text" for block in blocks):
            yield context.violation("results-are-text", "warn", result, "a tool message holds more than text")


def _goes_on(context: Context, place: int) -> bool:
    """Whether the path was continued past the answers to this turn: then what is missing stays missing."""
    following = context.turns[place + 1 :]
    return bool(following) and (len(following) > 1 or _says_something(following[0]))


def _says_something(turn: Turn) -> bool:
    return any(spot.part.type not in RESULTS for spot in turn.spots) or not turn.spots
