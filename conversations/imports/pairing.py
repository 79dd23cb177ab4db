"""Which result answers which call, and what was received broken.

The database holds the same rule as keys: a message answers the calls of the
message right before it, or of the one that its parent answers. Here every
part that cannot fit is marked instead of mended: a result without its call and
a second call or result with one id become orphans, a call that the history
passed over is unanswered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from conversations.drafts import MessageDraft, PartDraft
from conversations.vocabulary import CallStatus, PartStatus, PartType


@dataclass(slots=True)
class PairedMessage:
    """A message with its place: indexes into the same list, parents first. -1 is none."""

    message: MessageDraft
    parent: int
    answers: int = -1
    call_statuses: dict[str, CallStatus] = field(default_factory=dict)
    # Ids of calls in this message's group that some message down to here has answered.
    answered: frozenset[str] = frozenset()

    def calls(self) -> dict[str, PartDraft]:
        return {part.tool_call_id: part for part in self.message.calls() if part.tool_call_id is not None}


def resume(messages: Sequence[PairedMessage]) -> None:
    """Work out which calls are answered down to each message that is in the store already."""
    for message in messages:
        if message.answers < 0:
            continue
        above = messages[message.parent].answered if message.parent >= 0 else frozenset()
        if message.parent == message.answers:
            above = frozenset()
        own = {part.tool_call_id for part in message.message.results() if part.tool_call_id is not None}
        message.answered = above | own


def pair(messages: Sequence[PairedMessage], findings: list[str], *, since: int = 0) -> None:
    """Set what each message answers, from `since` on; mark orphans and calls that were passed over.

    Those before `since` are in the store already (see `resume`): they are read, not changed.
    """
    for message in messages[since:]:
        _mark_second_calls(message.message, findings)
        _answer(messages, message, findings)
    _mark_passed_over(messages, findings)


def _mark_second_calls(message: MessageDraft, findings: list[str]) -> None:
    seen: set[str] = set()
    for part in message.parts:
        if part.type != PartType.TOOL_USE:
            continue
        # Where the dialect is known its reader has marked it already.
        if part.orphan or part.tool_call_id in seen or part.tool_call_id is None:
            part.orphan = True
            findings.append(f"a second call {part.tool_call_id} in one message; kept as an orphan")
        else:
            seen.add(part.tool_call_id)


def _answer(messages: Sequence[PairedMessage], message: PairedMessage, findings: list[str]) -> None:
    """Pair the message's results with the calls that it follows."""
    results = list(message.message.results())
    if not results:
        return
    group = -1
    answered: set[str] = set()
    if message.parent >= 0:
        parent = messages[message.parent]
        group = parent.answers if parent.answers >= 0 else message.parent
        answered = set(parent.answered) if parent.answers >= 0 else set()
    calls = messages[group].calls() if group >= 0 else {}
    for part in results:
        call_id = part.tool_call_id
        if call_id not in calls or call_id is None:
            part.orphan = True
            findings.append(
                f"a result for {call_id or 'no call'} does not follow its call; kept as an orphan"
            )
        elif call_id in answered:
            part.orphan = True
            findings.append(f"a second result for {call_id} on one path; kept as an orphan")
        else:
            answered.add(call_id)
            message.answers = group
            failed = part.status == PartStatus.ERROR
            _settle(messages[group], call_id, CallStatus.FAILED if failed else CallStatus.SUCCEEDED)
    if message.answers >= 0:
        message.answered = frozenset(answered)


def _settle(caller: PairedMessage, call_id: str, status: CallStatus) -> None:
    """The first result in writing order tells; branches may hold others."""
    caller.call_statuses.setdefault(call_id, status)


def _mark_passed_over(messages: Sequence[PairedMessage], findings: list[str]) -> None:
    """A call is passed over where a message goes on without an answer to it."""
    for message in messages:
        if message.parent < 0:
            continue
        parent = messages[message.parent]
        group = parent.answers if parent.answers >= 0 else message.parent
        if message.answers == group:
            continue
        calls = messages[group].calls()
        missing = calls.keys() - (parent.answered if parent.answers >= 0 else frozenset())
        for call_id in sorted(missing):
            # One branch without the answer is enough: the status is the call's, not the branch's.
            if messages[group].call_statuses.get(call_id) != CallStatus.UNANSWERED:
                messages[group].call_statuses[call_id] = CallStatus.UNANSWERED
                findings.append(f"call {call_id} was never answered, and the conversation went on")
