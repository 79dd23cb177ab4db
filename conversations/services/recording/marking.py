"""What was received broken: kept, marked, and said so on the conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from conversations.drafts import MessageDraft
from conversations.models import Conversation
from conversations.reads.path import StoredMessage
from conversations.vocabulary import ReplayObstacle
from conversations.wire.pairing import mark_orphans


@dataclass(frozen=True, slots=True)
class Marked:
    """Calls that the new messages go on without: stored ones by seq, new ones by place in the run."""

    passed_over: tuple[tuple[int, str], ...]
    unanswered: tuple[tuple[int, str], ...]
    has_orphans: bool

    @property
    def is_broken(self) -> bool:
        return bool(self.passed_over or self.unanswered or self.has_orphans)


def mark_broken(path: Sequence[StoredMessage], new: Sequence[MessageDraft]) -> Marked:
    """Mark the new messages' results without a call, and say which calls are passed over."""
    pairing = mark_orphans([*(stored.draft for stored in path), *new])
    return Marked(
        passed_over=tuple(
            (path[index].seq, call_id) for index, call_id in pairing.unanswered if index < len(path)
        ),
        unanswered=tuple(
            (index - len(path), call_id) for index, call_id in pairing.unanswered if index >= len(path)
        ),
        has_orphans=any(part.orphan for message in new for part in message.parts),
    )


def write_marks(*, conversation_id: UUID, marked: Marked) -> None:
    """Write what the new messages say about stored rows; before they are placed, or they would be refused."""
    if not marked.is_broken:
        return
    if marked.passed_over:
        seqs, call_ids = zip(*marked.passed_over, strict=True)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE conversations_toolcall c SET status = 'unanswered'"
                " FROM unnest(%s::int[], %s::text[]) AS passed(seq, call_id)"
                " WHERE c.conversation_id = %s AND c.seq = passed.seq AND c.call_id = passed.call_id"
                " AND c.status <> 'unanswered'",
                [list(seqs), list(call_ids), conversation_id],
            )
    Conversation.objects.filter(id=conversation_id).update(replay_obstacle=ReplayObstacle.RECEIVED_BROKEN)


def settle_answered_calls(*, conversation_id: UUID, first_seq: int, last_seq: int) -> None:
    """Set how the calls ended whose results stand in these messages; what is settled already stays."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE conversations_toolcall c SET"
            " status = CASE WHEN r.status = 'error' THEN 'failed' ELSE 'succeeded' END"
            " FROM conversations_messagepart r"
            " WHERE r.conversation_id = %(conversation)s AND r.seq BETWEEN %(first)s AND %(last)s"
            " AND r.answers_seq IS NOT NULL AND c.conversation_id = r.conversation_id"
            " AND c.seq = r.answers_seq AND c.call_id = r.tool_call_id AND c.status = 'requested'",
            {"conversation": conversation_id, "first": first_seq, "last": last_seq},
        )
