"""Each exchange once: what was recorded under a key is found again and never written twice.

The key is unique in the database. Of two recorders of one exchange the second
is refused by that key when it writes; it rolls back and finds the first.
"""

from uuid import UUID

from django.db import connection

from conversations.models import Account, Conversation
from conversations.services.recording.exchange import LONGEST_ID, RecordedExchange
from conversations.services.recording.storable import fitted
from conversations.vocabulary import BodyProof, GenerationStatus, HistoryMatch

KEY = "conversations_exchange_pkey"


def find_recorded(*, realm_id: int, key: str) -> RecordedExchange | None:
    """Return what was recorded under the key."""
    with connection.cursor() as cursor:
        cursor.execute(RECORDED, [realm_id, key])
        row = cursor.fetchone()
    if row is None:
        return None
    conversation_id, number, request_id, attempt, status, match, proof, leaf_seq, answer_seq = row
    return RecordedExchange(
        conversation_id=conversation_id,
        generation_number=number,
        request_id=request_id,
        attempt=attempt,
        status=GenerationStatus(status),
        match=HistoryMatch(match),
        proof=BodyProof(proof),
        leaf_seq=leaf_seq,
        answer_seq=answer_seq,
        was_known=True,
    )


def find_attempt(*, account: Account, exchange_id: str) -> RecordedExchange | None:
    """Return what the account has under the caller's id of an exchange; nothing of another account."""
    if not exchange_id:
        return None
    found = find_recorded(realm_id=account.realm_id, key=fitted(exchange_id, LONGEST_ID))
    if found is None:
        return None
    is_theirs = Conversation.objects.filter(pk=found.conversation_id, account=account).exists()
    return found if is_theirs else None


RECORDED = """
SELECT g.conversation_id, g.number, g.request_id, g.attempt, g.status, g.match, g.body_proof,
    g.leaf_seq, g.message_seq
FROM conversations_exchange e
JOIN conversations_generation g ON g.conversation_id = e.conversation_id AND g.number = e.number
WHERE e.realm_id = %s AND e.exchange_id = %s
"""


def keep_key(*, realm_id: int, key: str, tree_id: UUID, number: int) -> None:
    """Write the key; IntegrityError of KEY where another recorder was first."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO conversations_exchange (realm_id, exchange_id, conversation_id, number)"
            " VALUES (%s, %s, %s, %s)",
            [realm_id, key, tree_id, number],
        )
