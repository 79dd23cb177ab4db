"""Each exchange once: what was recorded under a key is found again and never written twice.

The key is unique in the database. Of two recorders of one exchange the second
is refused by that key when it writes; it rolls back and finds the first.

A key is never taken for granted: under the caller's own id another body is
refused, and a provider's id that comes back with another body (local servers
give every answer the same one) is no id at all.
"""

from uuid import UUID

from django.db import connection

from conversations.errors import ConflictError
from conversations.models import Account, Conversation
from conversations.services.recording.exchange import LONGEST_ID, Reading, RecordedExchange
from conversations.services.recording.storable import fitted
from conversations.vocabulary import BodyProof, GenerationStatus, HistoryMatch

KEY = "conversations_exchange_pkey"


class ExchangeReusedError(ConflictError):
    """One exchange id for two request bodies."""


def find_known(reading: Reading) -> RecordedExchange | None:
    """Return the exchange as it was recorded before; None for a new one.

    Raises ExchangeReusedError where the caller has given its id to another body.
    """
    if not reading.exchange_key:
        return None
    known = find_recorded(realm_id=reading.call.realm_id, key=reading.exchange_key)
    if known is None or known.body_sha256 in (None, reading.body_digest):
        return known
    if reading.call.exchange_id:
        raise ExchangeReusedError(
            "exchange-id-used",
            "this exchange id was used for another request body",
            place=f"conversation {known.conversation_id}, attempt {known.generation_number}",
        )
    reading.is_response_id_repeated = True
    return find_recorded(realm_id=reading.call.realm_id, key=reading.exchange_key)


def find_recorded(*, realm_id: int, key: str) -> RecordedExchange | None:
    """Return what was recorded under the key."""
    with connection.cursor() as cursor:
        cursor.execute(RECORDED, [realm_id, key])
        row = cursor.fetchone()
    if row is None:
        return None
    conversation_id, number, request_id, attempt, status, match, proof, leaf_seq, answer_seq, digest = row
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
        body_sha256=None if digest is None else bytes(digest),
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
    g.leaf_seq, g.message_seq, CASE WHEN NOT g.is_redacted THEN g.body_sha256 END
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
