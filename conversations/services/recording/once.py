"""Each exchange once: a second delivery finds the first, also when both arrive together."""

import hashlib
import struct

from django.db import connection

from conversations.models import Exchange, Generation
from conversations.services.recording.exchange import RecordedExchange
from conversations.vocabulary import BodyProof, GenerationStatus, HistoryMatch


def find_recorded(*, realm_id: int, key: str) -> RecordedExchange | None:
    """Return what was recorded under the key, after any recorder of the same key has ended.

    The lock belongs to the transaction: until it ends, no other recorder of
    this exchange gets past here.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_lock_number(realm_id, key)])
    # A statement of its own, so that it sees what was committed while we waited.
    exchange = Exchange.objects.filter(realm_id=realm_id, exchange_id=key).first()
    if exchange is None:
        return None
    generation = Generation.objects.get(conversation_id=exchange.conversation_id, number=exchange.number)
    return recorded(generation, was_known=True)


def recorded(generation: Generation, *, was_known: bool) -> RecordedExchange:
    return RecordedExchange(
        conversation_id=generation.conversation_id,
        generation_number=generation.number,
        request_id=generation.request_id,
        attempt=generation.attempt,
        status=GenerationStatus(generation.status),
        match=HistoryMatch(generation.match or HistoryMatch.UNPLACED),
        proof=BodyProof(generation.body_proof),
        leaf_seq=generation.leaf_seq,
        answer_seq=generation.message_seq,
        notes=tuple(generation.notes),
        was_known=was_known,
    )


def _lock_number(realm_id: int, key: str) -> int:
    digest = hashlib.sha256(f"exchange:{realm_id}:{key}".encode("utf-8", "surrogatepass")).digest()
    return int(struct.unpack(">q", digest[:8])[0])
