"""Tools that the provider runs: results are paired by id in the turn, whatever a client answers in it."""

from collections.abc import Iterator

from conversations.vocabulary import PartType, Role
from conversations.wire.rules.context import RESULTS, Context, Spot
from conversations.wire.shapes import Violation


def server_results_follow_calls(context: Context) -> Iterator[Violation]:
    """A server tool's result stands behind its call, in the same turn or where the turn goes on."""
    known: set[str | None] = set()
    for turn in context.turns:
        if turn.role == Role.USER and not turn.of(RESULTS):
            known = set()
        for spot in turn.spots:
            if spot.part.type == PartType.SERVER_TOOL_USE:
                known.add(spot.part.tool_call_id)
            elif spot.part.type == PartType.SERVER_TOOL_RESULT and spot.part.tool_call_id not in known:
                explanation = f"the result {spot.part.tool_call_id} has no call before it in its turn"
                yield context.violation("server-result-follows-call", "refuse", spot, explanation)


def server_calls_are_resolved(context: Context) -> Iterator[Violation]:
    """A server tool's call that the turn leaves open is refused once a user speaks again."""
    open_calls: dict[str | None, Spot] = {}
    for turn in context.turns:
        if turn.role == Role.USER and any(spot.part.type != PartType.TOOL_RESULT for spot in turn.spots):
            for spot in open_calls.values():
                explanation = (
                    f"the server tool's call {spot.part.tool_call_id} was never resolved in its turn"
                )
                yield context.violation("server-call-resolved", "warn", spot, explanation)
            open_calls = {}
        for spot in turn.spots:
            if spot.part.type == PartType.SERVER_TOOL_USE:
                open_calls[spot.part.tool_call_id] = spot
            elif spot.part.type == PartType.SERVER_TOOL_RESULT:
                open_calls.pop(spot.part.tool_call_id, None)
    yield from _undeclared(context, open_calls)


def _undeclared(context: Context, pending: dict[str | None, Spot]) -> Iterator[Violation]:
    """A call that the provider still has to run needs its tool declared."""
    for spot in pending.values():
        is_declared = context.tools is None or spot.part.tool_name in context.tools
        if not is_declared and spot.part.provider_type != "mcp_tool_use":
            explanation = f"{spot.part.tool_name} is pending, but the request does not declare it"
            yield context.violation("pending-tool-declared", "warn", spot, explanation)
