"""Copies at providers: their ids are written down before ours go, for whoever can delete them there."""

import re
from typing import Any
from uuid import UUID

from django.db import connection

from conversations.archive.opening import ArchiveError, open_archive
from retention.erasure.outcome import Outcome
from retention.erasure.subject import Subject
from retention.models import HostedCopy
from retention.vocabulary import CopyState

# Files are named inside blocks that refer to them.
_WRITE_DOWN = """
INSERT INTO retention_hostedcopy (request_id, provider, kind, reference, state, requested_at)
SELECT DISTINCT %(request)s::uuid, provider, kind, reference, 'requested', %(now)s::timestamptz FROM (
    SELECT provider, 'conversation' AS kind, hosted_conversation_id AS reference
        FROM conversations_generation WHERE conversation_id = ANY(%(ids)s)
    UNION ALL
    SELECT provider, 'response', provider_response_id
        FROM conversations_generation WHERE conversation_id = ANY(%(ids)s)
    UNION ALL
    SELECT coalesce(
            (SELECT g.provider FROM conversations_generation g
                WHERE g.conversation_id = p.conversation_id LIMIT 1),
            'unknown'),
        'file', (regexp_matches(encode(p.payload, 'escape'), '"(file[-_][A-Za-z0-9]{6,})"', 'g'))[1]
        FROM conversations_messagepart p
        WHERE p.conversation_id = ANY(%(ids)s) AND p.type IN ('image', 'document', 'other')
        AND p.payload IS NOT NULL
) copies WHERE reference <> ''
ON CONFLICT DO NOTHING
"""


# As in the query above, for blocks whose bytes lie in an archive.
_FILE = re.compile(rb'"(file[-_][A-Za-z0-9]{6,})"')
_ARCHIVED = """
SELECT a.conversation_id, coalesce(
    (SELECT g.provider FROM conversations_generation g WHERE g.conversation_id = a.conversation_id LIMIT 1),
    'unknown')
FROM conversations_archive a WHERE a.conversation_id = ANY(%s) ORDER BY 1
"""


def run(subject: Subject, after: Any) -> Outcome:
    with connection.cursor() as cursor:
        cursor.execute(
            _WRITE_DOWN,
            {"request": subject.request.pk, "now": subject.now, "ids": subject.conversation_ids},
        )
        cursor.execute(_ARCHIVED, [subject.conversation_ids])
        for conversation_id, provider in cursor.fetchall():
            _write_down_files(subject, conversation_id, provider)
    copies = subject.request.hosted_copies.count()
    return Outcome(kept={"hosted copies": copies} if copies else {}, is_requested=copies > 0)


def _write_down_files(subject: Subject, conversation_id: UUID, provider: str) -> None:
    """An archive that cannot be opened names no files: nobody else could read them there either."""
    try:
        content = open_archive(conversation_id=conversation_id)
    except ArchiveError:
        return
    found = {name for part in content.parts.values() for name in _FILE.findall(part.payload or b"")}
    HostedCopy.objects.bulk_create(
        [
            HostedCopy(
                request=subject.request,
                provider=provider,
                kind="file",
                reference=name.decode(),
                state=CopyState.REQUESTED,
                requested_at=subject.now,
            )
            for name in sorted(found)
        ],
        ignore_conflicts=True,
    )
