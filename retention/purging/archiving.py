"""Bytes of cold conversations go into files: nothing is lost, but it is asked as if it were."""

from uuid import UUID

from django.db import transaction

from conversations.archive.opening import ArchiveError
from retention.archiving import archive_bytes, archived_among, return_bytes
from retention.purging.due import due_conversations, free_of
from retention.purging.step import Ask, Taken
from retention.vocabulary import Blocker, DataClass, PolicyAction

# Somebody who brings bytes back has so many days before they are archived again.
LEFT_ALONE_DAYS = 30
_HAS_BYTES = f"""
AND EXISTS (SELECT FROM conversations_messagepart p
    WHERE p.conversation_id = c.id AND p.bytes_state IN ('present', 'redacted'))
AND NOT EXISTS (SELECT FROM retention_archivereturn r
    WHERE r.conversation_id = c.id AND r.returned_at > %s - make_interval(days => {LEFT_ALONE_DAYS}))
"""


def take(ask: Ask) -> Taken:
    candidates, after = due_conversations(
        ask,
        data_class=DataClass.CONVERSATION_BYTES,
        action=PolicyAction.ARCHIVE,
        having=_HAS_BYTES,
        parameters=[ask.now],
    )
    taken = Taken(after)
    for conversation_id in free_of(candidates, taken=taken, takes_rows=False):
        try:
            with transaction.atomic():
                archived = archive_bytes(
                    conversation_id=conversation_id, now=ask.now, is_dry_run=ask.is_dry_run
                )
        except ArchiveError:
            taken.count(Blocker.ARCHIVE, 1)
            continue
        taken.count("messagepart_archived", archived.parts)
        taken.count("bytes_archived", archived.byte_count)
        taken.count("file_bytes", archived.file_size)
        taken.count("gone", 1)
    return taken


def without_archives(ids: list[UUID], *, taken: Taken) -> list[UUID]:
    """Bring back the bytes of those that are archived, for a step that takes some of them.

    The rest is archived again by its own step. Returns the ids whose bytes are in their rows now;
    an archive that cannot be opened is counted as what stands against it.
    """
    unopened = set()
    for conversation_id in archived_among(ids):
        try:
            with transaction.atomic():
                return_bytes(conversation_id=conversation_id)
        except ArchiveError:
            taken.count(Blocker.ARCHIVE, 1)
            unopened.add(conversation_id)
    return [pk for pk in ids if pk not in unopened]
