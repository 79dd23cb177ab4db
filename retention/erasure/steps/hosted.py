"""Copies at providers: their ids are written down before ours go, for whoever can delete them there."""

from typing import Any

from django.db import connection

from retention.erasure.outcome import Outcome
from retention.erasure.subject import Subject

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


def run(subject: Subject, after: Any) -> Outcome:
    with connection.cursor() as cursor:
        cursor.execute(
            _WRITE_DOWN,
            {"request": subject.request.pk, "now": subject.now, "ids": subject.conversation_ids},
        )
    copies = subject.request.hosted_copies.count()
    return Outcome(kept={"hosted copies": copies} if copies else {}, is_requested=copies > 0)
