"""Answers to tool calls, and how the calls ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from access.actors import Actor
from conversations.drafts import MessageDraft
from conversations.errors import NotFoundError
from conversations.models import Message, ToolCall
from conversations.services.appending import Appended, append_message
from conversations.services.placing import AT_HEAD
from conversations.vocabulary import CallStatus, Dialect, PartStatus


@dataclass(frozen=True, slots=True)
class CallEnding:
    """How one call ended, as the tool's own runner saw it."""

    call_id: str
    error_code: str = ""
    duration_ms: int | None = None


@transaction.atomic
def answer_calls(
    *,
    conversation_id: UUID,
    message: MessageDraft,
    actor: Actor,
    now: datetime,
    below: int = AT_HEAD,
    dialect: Dialect | None = None,
    endings: Sequence[CallEnding] = (),
) -> Appended:
    """Write a message of results below the one that made the calls, and set how each call ended.

    A result's own status decides between succeeded and failed; `endings` adds
    error codes and durations. Every other rule is `append_message`'s.
    """
    appended = append_message(
        conversation_id=conversation_id, message=message, actor=actor, now=now, below=below, dialect=dialect
    )
    if appended.is_new:
        settle_calls(conversation_id=conversation_id, seq=appended.seq, message=message, endings=endings)
    return appended


@transaction.atomic
def tell_durations(*, conversation_id: UUID, seq: int, durations: Mapping[str, int]) -> int:
    """Write how long calls of message `seq` took, in milliseconds by call id; return how many it changed.

    For applications whose exchanges are recorded: no request and no answer says it. A call that is
    not answered, or whose duration is known, is left alone.
    """
    answered = ToolCall.objects.filter(
        conversation_id=conversation_id,
        seq=seq,
        status__in=[CallStatus.SUCCEEDED, CallStatus.FAILED],
        duration_ms=None,
    )
    return sum(
        answered.filter(call_id=call_id).update(duration_ms=duration)
        for call_id, duration in durations.items()
    )


def settle_calls(
    *, conversation_id: UUID, seq: int, message: MessageDraft, endings: Sequence[CallEnding] = ()
) -> None:
    """Set the status of every call that message `seq` answers; the caller holds the transaction."""
    known = {ending.call_id: ending for ending in endings}
    answered = {part.tool_call_id or "": part for part in message.results()}
    unmatched = known.keys() - answered.keys()
    if unmatched:
        raise NotFoundError(
            "ending-without-result",
            f"no result in the message answers {', '.join(sorted(unmatched))}",
            place=f"conversation {conversation_id}, message {seq}",
        )
    answered_seq = Message.objects.values_list("answers_seq", flat=True).get(
        conversation_id=conversation_id, seq=seq
    )
    if answered_seq is None:
        return
    calls = ToolCall.objects.filter(conversation_id=conversation_id, seq=answered_seq, call_id__in=answered)
    for call in calls:
        ending = known.get(call.call_id, CallEnding(call_id=call.call_id))
        is_error = answered[call.call_id].status == PartStatus.ERROR or bool(ending.error_code)
        ToolCall.objects.filter(pk=call.pk).update(
            status=CallStatus.FAILED if is_error else CallStatus.SUCCEEDED,
            error_code=ending.error_code,
            duration_ms=ending.duration_ms if ending.duration_ms is not None else call.duration_ms,
        )
