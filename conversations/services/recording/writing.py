"""Writing a read exchange: messages, answer, attempt, raw bodies, and the key that keeps it single."""

import uuid
from functools import partial
from typing import Any
from uuid import UUID

from django.db import connection
from psycopg.types.json import Jsonb

from conversations.drafts import MessageDraft
from conversations.models import Generation
from conversations.services.placing import AS_ROOT, Run, place_locked
from conversations.services.raw_bodies import keep_raw_body
from conversations.services.recording.attempts import AttemptName, name_attempt
from conversations.services.recording.columns import generation_columns
from conversations.services.recording.exchange import LONGEST_ID, Reading, RecordedExchange
from conversations.services.recording.marking import Marked, mark_broken, settle_answered_calls, write_marks
from conversations.services.recording.once import keep_key
from conversations.services.recording.placement import Placement
from conversations.services.recording.proving import prove_body
from conversations.services.recording.storable import fitted
from conversations.services.recording.tree import Tree
from conversations.vocabulary import BodyProof, Dialect, HistoryMatch, RawClass

_JSON_COLUMNS = ("notes", "usage")


def write_exchange(reading: Reading, placement: Placement) -> RecordedExchange:
    """Write what the exchange adds below its place; StoreError where no mark makes the history fit."""
    tree = placement.tree
    proof = prove_body(
        body=reading.call.request_body,
        request=reading.request,
        path=placement.body_path,
        now=reading.call.now,
    )
    answers = [] if reading.response.message is None else [reading.response.message]
    marked = mark_broken(placement.path, [*placement.new, *answers])
    write_marks(conversation_id=tree.id, marked=marked)
    name = _name(reading, tree.id, leaf_seq=None if placement.new else placement.below_seq)
    columns = {
        **generation_columns(reading, name, placement.match),
        **proof.columns,
        **_raw_columns(reading, tree, proof.proof),
        "base_seq": placement.base_seq,
    }
    seqs, number = _write_rows(reading, placement, marked, columns)
    if any(any(message.results()) for message in placement.new):
        settle_answered_calls(conversation_id=tree.id, first_seq=seqs[0], last_seq=seqs[-1])
    _keep_key(reading, tree.id, number)
    has_answer = reading.response.message is not None
    new_seqs = seqs[:-1] if has_answer else seqs
    return RecordedExchange(
        conversation_id=tree.id,
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
        request=reading.request,
    )


def write_unplaced(reading: Reading, tree: Tree, *, at: int | None, why: str) -> RecordedExchange:
    """Write an attempt whose body fits nowhere: kept whole, below message `at` or below none.

    An answer to it is not kept as a message: nothing says what it answers. Its
    raw body is kept.
    """
    reading.notes.append(why)
    proof = prove_body(body=reading.call.request_body, request=None, path=(), now=reading.call.now)
    match = HistoryMatch.UNPLACED
    name = _name(reading, tree.id, leaf_seq=at)
    columns = {
        **generation_columns(reading, name, match),
        **proof.columns,
        **_raw_columns(reading, tree, proof.proof, keeps_answer=True),
    }
    number = _write_attempt(tree, leaf_seq=at, columns=columns, reading=reading)
    _keep_key(reading, tree.id, number)
    return RecordedExchange(
        conversation_id=tree.id,
        generation_number=number,
        request_id=name.request_id,
        attempt=name.number,
        status=reading.response.status,
        match=match,
        proof=proof.proof,
        leaf_seq=at,
        answer_seq=None,
        notes=tuple(columns["notes"]),
        request=reading.request,
    )


def _name(reading: Reading, conversation_id: UUID, *, leaf_seq: int | None) -> AttemptName:
    return name_attempt(
        conversation_id=conversation_id,
        request_id=fitted(reading.call.request_id, LONGEST_ID),
        leaf_seq=leaf_seq,
        body_digest=reading.body_digest,
        otherwise=fitted(f"exchange-{reading.exchange_key or uuid.uuid4()}", LONGEST_ID),
    )


def _write_rows(
    reading: Reading, placement: Placement, marked: Marked, columns: dict[str, Any]
) -> tuple[list[int], int]:
    """Write messages, answer and attempt; return the messages' seqs and the attempt's number."""
    messages: list[MessageDraft] = [*placement.new]
    digests = [*placement.digests]
    answer = reading.response.message
    if answer is not None:
        messages.append(answer)
        digests.append(placement.chain.add(answer))
    if not messages:
        number = _write_attempt(
            placement.tree, leaf_seq=placement.below_seq, columns=columns, reading=reading
        )
        return [], number
    placed = place_locked(
        Run(
            conversation_id=placement.tree.id,
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
    return list(range(placed.first_seq, placed.last_seq + 1)), placed.generation_number or 0


def _as_parameters(columns: dict[str, Any]) -> dict[str, Any]:
    return {
        name: Jsonb(value) if name in _JSON_COLUMNS and value is not None else value
        for name, value in columns.items()
    }


def _write_attempt(tree: Tree, *, leaf_seq: int | None, columns: dict[str, Any], reading: Reading) -> int:
    """Write an attempt that adds no message; the conversation's row is locked."""
    number = tree.next_generation
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE conversations_conversation SET next_generation = next_generation + 1,"
            " last_activity_at = greatest(last_activity_at, %s) WHERE id = %s",
            [reading.call.now, tree.id],
        )
    Generation(conversation_id=tree.id, number=number, leaf_seq=leaf_seq, **columns).save(force_insert=True)
    return number


def _raw_columns(
    reading: Reading, tree: Tree, proof: BodyProof, *, keeps_answer: bool = False
) -> dict[str, UUID | None]:
    """Keep what only raw bytes can give back: a body that is no conversation, a stream, an unread answer."""
    call = reading.call
    keep = partial(keep_raw_body, conversation_id=tree.id, account_id=tree.account_id, now=call.now)
    columns: dict[str, UUID | None] = {"raw_request_id": None, "raw_response_id": None}
    if proof == BodyProof.VERBATIM:
        columns["raw_request_id"] = keep(body=call.request_body, raw_class=RawClass.REQUEST)
    if call.response_body and reading.is_stream:
        columns["raw_response_id"] = keep(body=call.response_body, raw_class=RawClass.STREAM)
    elif call.response_body and (keeps_answer or not _is_all_in_the_tree(reading)):
        columns["raw_response_id"] = keep(body=call.response_body, raw_class=RawClass.RESPONSE)
    return columns


def _is_all_in_the_tree(reading: Reading) -> bool:
    """Whether the answer's message holds all that was answered: of several choices it is the first only."""
    return reading.response.message is not None and not reading.response.alternatives


def _keep_key(reading: Reading, conversation_id: UUID, number: int) -> None:
    if reading.exchange_key:
        keep_key(
            realm_id=reading.call.realm_id, key=reading.exchange_key, tree_id=conversation_id, number=number
        )
