"""Answers to tool calls, and how the calls ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction

from access.actors import Actor
from conversations.drafts import MessageDraft
from conversations.errors import NotFoundError
from conversations.models import Message
from conversations.services.appending import Appended, append_message
from conversations.services.placing import AT_HEAD
from conversations.vocabulary import Dialect, PartStatus


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
        _settle_calls(conversation_id=conversation_id, seq=appended.seq, message=message, endings=endings)
    return appended


@transaction.atomic
def tell_durations(*, conversation_id: UUID, seq: int, durations: Mapping[str, int]) -> int:
    """Write how long calls of message `seq` took, in milliseconds by call id; return how many it changed.

    For applications whose exchanges are recorded: no request and no answer says it. A call that is
    not answered, or whose duration is known, is left alone.
    """
    with connection.cursor() as cursor:
        cursor.execute(_TELL_DURATIONS, [list(durations), list(durations.values()), conversation_id, seq])
        return int(cursor.rowcount)


_TELL_DURATIONS = """
UPDATE conversations_toolcall c SET duration_ms = told.duration
FROM unnest(%s::text[], %s::int[]) AS told(call_id, duration)
WHERE c.conversation_id = %s AND c.seq = %s AND c.call_id = told.call_id
    AND c.status IN ('succeeded', 'failed') AND c.duration_ms IS NULL
"""


def _settle_calls(
    *, conversation_id: UUID, seq: int, message: MessageDraft, endings: Sequence[CallEnding] = ()
) -> None:
    """Set the status of every call that message `seq` answers, in one statement however many there are."""
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
    ends = [(call_id, part, known.get(call_id, CallEnding(call_id))) for call_id, part in answered.items()]
    failed = [part.status == PartStatus.ERROR or bool(ending.error_code) for _, part, ending in ends]
    with connection.cursor() as cursor:
        cursor.execute(
            _SETTLE,
            {
                "calls": list(answered),
                "failed": failed,
                "codes": [ending.error_code for _, _, ending in ends],
                "durations": [ending.duration_ms for _, _, ending in ends],
                "conversation": conversation_id,
                "seq": answered_seq,
            },
        )


_SETTLE = """
UPDATE conversations_toolcall c SET status = CASE WHEN told.failed THEN 'failed' ELSE 'succeeded' END,
    error_code = told.code, duration_ms = coalesce(told.duration, c.duration_ms)
FROM unnest(%(calls)s::text[], %(failed)s::bool[], %(codes)s::text[], %(durations)s::int[])
    AS told(call_id, failed, code, duration)
WHERE c.conversation_id = %(conversation)s AND c.seq = %(seq)s AND c.call_id = told.call_id
"""
