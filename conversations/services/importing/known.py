"""What the store holds of a conversation that is imported again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from conversations.reads.path import StoredMessage
from conversations.vocabulary import CallStatus


@dataclass(slots=True)
class Known:
    """Read under the conversation's lock, without the bytes of its messages."""

    conversation_id: UUID
    next_seq: int
    next_generation: int
    head_seq: int | None
    head_move: int
    is_head_imported: bool
    has_fork: bool
    obstacle: str
    messages: Sequence[StoredMessage]
    call_statuses: dict[int, dict[str, CallStatus]]
    quarantined: frozenset[bytes]
    originals: frozenset[bytes]
    # The latest time that its source has told; None where no message tells one.
    told_until: datetime | None = None


def told_until(messages: Sequence[StoredMessage], last_activity_at: datetime) -> datetime | None:
    """The latest time that the source has told; None where no message tells one.

    A last activity at which messages were stored is an import's own moment, or what was said here.
    """
    told = [at for one in messages if (at := one.draft.occurred_at)]
    if told and last_activity_at not in {one.created_at for one in messages}:
        told.append(last_activity_at)
    return max(told, default=None)
