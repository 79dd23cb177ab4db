"""Writing a read exchange: messages, answer, attempt, raw bodies, and the key that keeps it single."""

import uuid
from typing import Any
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Greatest
from psycopg.types.json import Jsonb

from conversations.drafts import MessageDraft
from conversations.models import Conversation, Exchange, Generation
from conversations.services.placing import AS_ROOT, Run, place
from conversations.services.raw_bodies import keep_raw_body
from conversations.services.recording.attempts import AttemptName, name_attempt
from conversations.services.recording.columns import generation_columns
from conversations.services.recording.exchange import LONGEST_ID, Reading, RecordedExchange
from conversations.services.recording.marking import Marked, mark_broken, settle_answered_calls, write_marks
from conversations.services.recording.placement import Placement
from conversations.services.recording.proving import prove_body
from conversations.services.recording.storable import fitted
from conversations.vocabulary import BodyProof, Dialect, HistoryMatch, RawClass

_JSON_COLUMNS = ("notes", "usage")


def write_exchange(reading: Reading, placement: Placement) -> RecordedExchange:
    """Write what the exchange adds below its place; StoreError where no mark makes the history fit."""
    conversation = placement.conversation
    proof = prove_body(
        body=reading.call.request_body,
        request=reading.request,
        path=placement.body_path,
        now=reading.call.now,
    )
    marked = mark_broken(placement.path, placement.new)
    write_marks(conversation_id=conversation.id, marked=marked)
    name = _name(reading, conversation.id, leaf_seq=None if placement.new else placement.below_seq)
    columns = {
        **generation_columns(reading, name, placement.match),
        **proof.columns,
        **_raw_columns(reading, conversation, proof.proof),
        "base_seq": placement.base_seq,
    }
    seqs, number = _write_rows(reading, placement, marked, columns)
    if any(any(message.results()) for message in placement.new):
        settle_answered_calls(conversation_id=conversation.id, first_seq=seqs[0], last_seq=seqs[-1])
    _keep_key(reading, conversation.id, number)
    has_answer = reading.response.message is not None
    new_seqs = seqs[:-1] if has_answer else seqs
    return RecordedExchange(
        conversation_id=conversation.id,
        generation_number=number,
        request_id=name.request_id,
        attempt=name.number,
        status=reading.response.status,
        match=placement.match,
        proof=proof.proof,
        leaf_seq=new_seqs[-1] if new_seqs else placement.below_seq,
        answer_seq=seqs[-1] if has_answer else None,
        new_seqs=tuple(seqs),
        notes=tuple(columns["notes"]),
    )


def write_unplaced(
    reading: Reading, conversation: Conversation, *, at: int | None, why: str
) -> RecordedExchange:
    """Write an attempt whose body fits nowhere: kept whole, below message `at` or below none.

    An answer to it is not kept as a message: nothing says what it answers. Its
    raw body is kept.
    """
    reading.notes.append(why)
    proof = prove_body(body=reading.call.request_body, request=None, path=(), now=reading.call.now)
    match = HistoryMatch.UNPLACED
    name = _name(reading, conversation.id, leaf_seq=at)
    columns = {
        **generation_columns(reading, name, match),
        **proof.columns,
        **_raw_columns(reading, conversation, proof.proof, keeps_answer=True),
    }
    number = _write_attempt(conversation, leaf_seq=at, columns=columns, reading=reading)
    _keep_key(reading, conversation.id, number)
    return RecordedExchange(
        conversation_id=conversation.id,
        generation_number=number,
        request_id=name.request_id,
        attempt=name.number,
        status=reading.response.status,
        match=match,
        proof=proof.proof,
        leaf_seq=at,
        answer_seq=None,
        notes=tuple(columns["notes"]),
    )


def _name(reading: Reading, conversation_id: UUID, *, leaf_seq: int | None) -> AttemptName:
    return name_attempt(
        conversation_id=conversation_id,
        request_id=fitted(reading.call.request_id, LONGEST_ID),
        leaf_seq=leaf_seq,
        body_digest=reading.body_digest,
        otherwise=reading.exchange_key or str(uuid.uuid4()),
    )


def _write_rows(
    reading: Reading, placement: Placement, marked: Marked, columns: dict[str, Any]
) -> tuple[list[int], int]:
    """Write the new messages, the answer and the attempt; return the messages' seqs and the attempt's number."""
    messages: list[MessageDraft] = [*placement.new]
    digests = [*placement.digests]
    answer = reading.response.message
    if answer is not None:
        messages.append(answer)
        digests.append(placement.chain.add(answer))
    if not messages:
        number = _write_attempt(
            placement.conversation, leaf_seq=placement.below_seq, columns=columns, reading=reading
        )
        return [], number
    placed = place(
        Run(
            conversation_id=placement.conversation.id,
            messages=messages,
            below=AS_ROOT if placement.below_seq is None else placement.below_seq,
            actor=reading.call.actor,
            now=reading.call.now,
            head_reason=placement.head_reason,
            branch_reason=placement.branch_reason,
            dialect=Dialect(reading.call.dialect),
            digests=digests,
            generation=_as_parameters(columns),
            has_answer=answer is not None,
            unanswered=marked.unanswered,
        )
    )
    assert placed.generation_number is not None
    return list(range(placed.first_seq, placed.last_seq + 1)), placed.generation_number


def _as_parameters(columns: dict[str, Any]) -> dict[str, Any]:
    return {
        name: Jsonb(value) if name in _JSON_COLUMNS and value is not None else value
        for name, value in columns.items()
    }


def _write_attempt(
    conversation: Conversation, *, leaf_seq: int | None, columns: dict[str, Any], reading: Reading
) -> int:
    """Write an attempt that adds no message; the conversation's row is locked."""
    number = conversation.next_generation
    Conversation.objects.filter(id=conversation.id).update(
        next_generation=F("next_generation") + 1,
        last_activity_at=Greatest("last_activity_at", reading.call.now),
    )
    Generation(conversation_id=conversation.id, number=number, leaf_seq=leaf_seq, **columns).save(
        force_insert=True
    )
    return number


def _raw_columns(
    reading: Reading, conversation: Conversation, proof: BodyProof, *, keeps_answer: bool = False
) -> dict[str, UUID]:
    """Keep what only raw bytes can give back: a body that is no conversation, a stream, an unread answer."""
    call = reading.call
    owner = {"conversation_id": conversation.id, "account_id": conversation.account_id, "now": call.now}
    columns = {}
    if proof == BodyProof.VERBATIM:
        columns["raw_request_id"] = keep_raw_body(
            body=call.request_body, raw_class=RawClass.REQUEST, **owner
        )
    if call.response_body and reading.is_stream:
        columns["raw_response_id"] = keep_raw_body(
            body=call.response_body, raw_class=RawClass.STREAM, **owner
        )
    elif call.response_body and (keeps_answer or reading.response.message is None):
        columns["raw_response_id"] = keep_raw_body(
            body=call.response_body, raw_class=RawClass.RESPONSE, **owner
        )
    return columns


def _keep_key(reading: Reading, conversation_id: UUID, number: int) -> None:
    if not reading.exchange_key:
        return
    Exchange(
        realm_id=reading.call.realm_id,
        exchange_id=reading.exchange_key,
        conversation_id=conversation_id,
        number=number,
    ).save(force_insert=True)
