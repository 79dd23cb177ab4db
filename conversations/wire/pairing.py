"""Which result answers which call, and what was received that pairs with nothing.

The rule is the store's: a message answers the calls of the message before it,
or the same calls as the message before it does. Whatever does not fit is kept
and marked `orphan`. A server tool's result is paired within its turn instead
and is of another part type.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from conversations.drafts import MessageDraft, PartDraft
from conversations.vocabulary import PartType


@dataclass(slots=True)
class Pairing:
    """For each message the index of the one it answers; and the calls that the path passes over."""

    answers: list[int | None] = field(default_factory=list)
    unanswered: list[tuple[int, str]] = field(default_factory=list)


def settle_calls(parts: Sequence[PartDraft]) -> None:
    """Mint ids for calls that came without one; mark a repeated id as orphan."""
    calls = [(position, part) for position, part in enumerate(parts) if part.type == PartType.TOOL_USE]
    taken = {part.tool_call_id for _, part in calls}
    seen: set[str] = set()
    for position, part in calls:
        if part.tool_call_id is None:
            part.tool_call_id = _mint(position, taken)
            part.is_minted_id = True
        part.orphan = part.tool_call_id in seen
        seen.add(part.tool_call_id)


def cut_off(part: PartDraft) -> None:
    """Mark a call that did not arrive whole: it is no call, nobody may answer or run it."""
    part.provider_type = part.provider_type or part.type.value
    part.type = PartType.OTHER
    part.orphan = True


def adopt_results(messages: Sequence[MessageDraft]) -> None:
    """Give results without an id the minted id of the call they answer: by name, else the next in order."""
    if all(result.tool_call_id is not None for message in messages for result in message.results()):
        return
    waiting: list[PartDraft] = []
    for message in messages:
        results = list(message.results())
        for result in results:
            if result.tool_call_id is None:
                _adopt(result, waiting)
        calls = list(message.calls())
        if calls or not results:
            waiting = [call for call in calls if call.is_minted_id]


def mark_orphans(messages: Sequence[MessageDraft]) -> Pairing:
    """Mark every result that answers no call of the message it follows; return who answers whom.

    `messages` is a whole path from its root. Results already marked stay marked.
    """
    pairing = Pairing()
    group: int | None = None
    open_calls: set[str] = set()
    for index, message in enumerate(messages):
        answered = _answer(message, open_calls)
        pairing.answers.append(group if answered else None)
        calls = {call.tool_call_id for call in message.calls() if call.tool_call_id}
        if answered:
            # It belongs to the group that it answers; calls of its own nobody can answer once it goes on.
            if index + 1 < len(messages):
                pairing.unanswered += [(index, call_id) for call_id in sorted(calls)]
            continue
        if group is not None:
            pairing.unanswered += [(group, call_id) for call_id in sorted(open_calls)]
        group, open_calls = (index, calls) if calls else (None, set())
    return pairing


def _answer(message: MessageDraft, open_calls: set[str]) -> bool:
    answered = False
    for part in message.parts:
        if part.type != PartType.TOOL_RESULT or part.orphan:
            continue
        if part.tool_call_id in open_calls:
            open_calls.discard(part.tool_call_id)
            answered = True
        else:
            part.orphan = True
    return answered


def _adopt(result: PartDraft, waiting: list[PartDraft]) -> None:
    named = [call for call in waiting if result.tool_name and call.tool_name == result.tool_name]
    for call in named or ([] if result.tool_name else waiting)[:1]:
        result.tool_call_id = call.tool_call_id
        waiting.remove(call)
        return
    # Nothing to answer: the store takes a result without an id only as an orphan.
    result.orphan = True


def _mint(position: int, taken: set[str | None]) -> str:
    minted = f"minted-{position}"
    while minted in taken:
        minted += "-"
    taken.add(minted)
    return minted
