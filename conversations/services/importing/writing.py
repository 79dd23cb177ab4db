"""A batch of read conversations into the store: all of one conversation or nothing of it.

A batch is one transaction, because a commit each would cost more than the
writing. If the database refuses anything in it, the batch is written again
one conversation at a time, and the refused one is named.

Locks: the account's row first, shared, then its conversations by id. Two
imports of one conversation meet in its unique key: the second one's batch is
refused, and written again it finds what the first wrote.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from django.db import DatabaseError, connection, transaction

from access.actors import Actor
from conversations.drafts import ImportedConversation
from conversations.errors import StoreError, explained
from conversations.imports.trouble import UnreadableError
from conversations.models import Conversation, ErasedSubject, HeadMove, RawBody, RedactionSpan, ToolCall
from conversations.reads.path import read_messages
from conversations.redaction.switch import kinds_for
from conversations.services.erased import subject_digest
from conversations.services.importing.counting import counts_of
from conversations.services.importing.known import Known, told_until
from conversations.services.importing.planning import Plan, original_digest, plan
from conversations.services.importing.redacting import cut_imported, cuts_of
from conversations.services.importing.report import ImportReport
from conversations.services.importing.rows import RowBatch
from conversations.services.placing import check_deferred
from conversations.services.plans import plan_anew_for_many
from conversations.vocabulary import CallStatus, ErasedKind, HeadMoveReason, RawClass

_PATIENCE: Final = 3
_UPDATED: Final = (
    "next_seq",
    "next_generation",
    "has_fork",
    "replay_obstacle",
    "last_activity_at",
    "head_seq",
    "head_move",
)
_IMPORTED: Final = frozenset({HeadMoveReason.IMPORT, HeadMoveReason.IMPORT_REPAIR})


@dataclass(frozen=True, slots=True)
class Destination:
    """Whose conversations they become, by whom and when."""

    realm_id: int
    account_id: UUID
    actor: Actor
    now: datetime
    keep_originals: bool


class Written(NamedTuple):
    """What was planned and written, and what was refused for whose it is."""

    plans: list[Plan]
    erased: list[ImportedConversation]


def write_batch(destination: Destination, conversations: Sequence[ImportedConversation]) -> ImportReport:
    """Write a batch and say what became of it; safe to repeat, and for two imports at once."""
    report = ImportReport()
    try:
        plans, erased = _write_with_patience(destination, conversations)
    except (DatabaseError, StoreError, UnreadableError, UnicodeError) as error:
        if len(conversations) == 1:
            report.fail(conversations[0].place, _reason(error))
        else:
            for conversation in conversations:
                report.absorb(write_batch(destination, [conversation]))
        return report
    for gone in erased:
        report.fail(gone.place, "of somebody who was erased; nothing of it is kept")
    for one in plans:
        report.counts.update(counts_of(one))
        for text in one.differences if one.adds_nothing else [*one.remarks, *one.differences]:
            report.remark(one.conversation.place, text)
    return report


def _write_with_patience(destination: Destination, conversations: Sequence[ImportedConversation]) -> Written:
    """Write; where another import was first with a conversation, write again beside what it wrote."""
    for _ in range(_PATIENCE):
        try:
            return _write(destination, conversations)
        except StoreError as error:
            if error.rule != "external-ref-used":
                raise
    return _write(destination, conversations)


def _write(destination: Destination, conversations: Sequence[ImportedConversation]) -> Written:
    with explained(place="import"), transaction.atomic():
        batch = RowBatch(
            account_id=destination.account_id,
            actor=destination.actor,
            now=destination.now,
            keep_originals=destination.keep_originals,
        )
        _lock_account(destination.account_id)
        # Asked with the lock held: an erasure that was waited for is seen.
        erased = _of_the_erased(destination, conversations)
        gone = {id(one) for one in erased}
        kinds = kinds_for(account_id=destination.account_id, realm_id=destination.realm_id)
        kept = cut_imported([one for one in conversations if id(one) not in gone], kinds=kinds)
        cuts: list[RedactionSpan] = []
        plans = _plan_and_add(batch, kept, cuts=cuts if kinds else None)
        with connection.cursor() as cursor:
            # The search's index takes an import's words in fewer, larger helpings; `settle_search` ends it.
            cursor.execute("SET LOCAL gin_pending_list_limit = '8MB'")
            # A connection keeps the plans of keys and triggers that its first batch made: made while the
            # tables are empty, they would read them from end to end for every row that follows.
            cursor.execute("SET LOCAL enable_seqscan = off")
        plan_anew_for_many(max((len(one.new) for one in plans), default=0))
        batch.copy()
        RedactionSpan.objects.bulk_create(cuts)
        _update_known(batch)
        # At commit nobody would be there to say which conversation was refused.
        check_deferred()
    return Written(plans, erased)


def _plan_and_add(
    batch: RowBatch, conversations: Sequence[ImportedConversation], *, cuts: list[RedactionSpan] | None
) -> list[Plan]:
    """Lay out what each adds; `cuts` takes where something was cut, None where nothing is."""
    ids = _lock_known(batch.account_id, [one.external_ref for one in conversations])
    imported = _last_originals(list(ids.values()))
    plans = []
    for conversation in conversations:
        known_id = ids.get(conversation.external_ref)
        raw = conversation.raw
        if known_id is not None and raw and imported.get(known_id) == original_digest(raw):
            # The very bytes were imported before: there is nothing to compare.
            plans.append(_unchanged(conversation, known_id))
            continue
        known = _read_known(known_id) if known_id is not None else None
        one = plan(conversation, account_id=batch.account_id, known=known)
        plans.append(one)
        if not one.adds_nothing:
            ids[conversation.external_ref] = conversation_id = batch.add(one)
            if cuts is not None:
                cuts += cuts_of(one, conversation_id, now=batch.now)
    return plans


def _of_the_erased(
    destination: Destination, conversations: Sequence[ImportedConversation]
) -> list[ImportedConversation]:
    """Conversations that an erasure took away, or whose source names a customer who was erased."""
    asked: dict[bytes, list[ImportedConversation]] = {}
    for one in conversations:
        for kind, value in (
            (ErasedKind.EXTERNAL_REF, one.external_ref),
            (ErasedKind.EXTERNAL_ID, one.account_external_id),
        ):
            if value:
                digest = subject_digest(kind=kind, realm_id=destination.realm_id, value=value)
                asked.setdefault(digest, []).append(one)
    known = ErasedSubject.objects.filter(digest__in=asked).values_list("digest", flat=True)
    found = {id(one): one for digest in known for one in asked[bytes(digest)]}
    return list(found.values())


def _lock_account(account_id: UUID) -> None:
    """Keep a purge and a hold of the account waiting; imports go on beside each other."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM conversations_account WHERE id = %s FOR SHARE", [account_id])


def _lock_known(account_id: UUID, refs: Sequence[str]) -> dict[str, UUID]:
    rows = (
        Conversation.objects.filter(account_id=account_id, external_ref__in=refs)
        .order_by("pk")
        .select_for_update(no_key=True)
        .values_list("external_ref", "pk")
    )
    return dict(rows)


def _last_originals(ids: Sequence[UUID]) -> dict[UUID, bytes]:
    """The digest of the record that each conversation was last imported from."""
    rows = (
        RawBody.objects.filter(conversation_id__in=ids, raw_class=RawClass.IMPORT)
        .order_by("conversation_id", "-created_at", "-id")
        .distinct("conversation_id")
        .values_list("conversation_id", "sha256")
    )
    return {conversation_id: bytes(digest) for conversation_id, digest in rows if conversation_id}


def _unchanged(conversation: ImportedConversation, conversation_id: UUID) -> Plan:
    known = Known(conversation_id, 1, 1, None, 0, True, False, "", [], {}, frozenset(), frozenset())
    nothing = ImportedConversation(external_ref=conversation.external_ref, nodes=[], place=conversation.place)
    return plan(nothing, account_id=conversation_id, known=known)


def _read_known(conversation_id: UUID) -> Known:
    row = Conversation.objects.get(pk=conversation_id)
    messages = read_messages(conversation_id=conversation_id, seqs=range(1, row.next_seq), with_bytes=False)
    statuses: dict[int, dict[str, CallStatus]] = {}
    calls = ToolCall.objects.filter(conversation_id=conversation_id).exclude(status=CallStatus.REQUESTED)
    for seq, call_id, status in calls.values_list("seq", "call_id", "status"):
        statuses.setdefault(seq, {})[call_id] = CallStatus(status)
    last_move = HeadMove.objects.filter(conversation_id=conversation_id).order_by("-number").first()
    raw = RawBody.objects.filter(conversation_id=conversation_id).values_list("raw_class", "sha256")
    digests = [(raw_class, bytes(digest)) for raw_class, digest in raw]
    return Known(
        conversation_id=conversation_id,
        next_seq=row.next_seq,
        next_generation=row.next_generation,
        head_seq=row.head_seq,
        head_move=row.head_move or 0,
        is_head_imported=last_move is None or last_move.reason in _IMPORTED,
        has_fork=row.has_fork,
        obstacle=row.replay_obstacle,
        messages=messages,
        call_statuses=statuses,
        quarantined=frozenset(digest for kind, digest in digests if kind == RawClass.QUARANTINE),
        originals=frozenset(digest for kind, digest in digests if kind == RawClass.IMPORT),
        told_until=told_until(messages, row.last_activity_at),
    )


def settle_search() -> None:
    """Bring the words of an import into the search's index, which until then looks for them one by one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT conversations_settle_search()")


def _update_known(batch: RowBatch) -> None:
    for conversation_id, one in batch.updates:
        known = one.known
        if known is None:
            continue
        for (seq, call_id), status in one.settled_calls.items():
            ToolCall.objects.filter(conversation_id=conversation_id, seq=seq, call_id=call_id).update(
                status=status
            )
        row = Conversation.objects.get(pk=conversation_id)
        row.next_seq = one.next_seq
        row.next_generation = one.next_generation
        row.has_fork = known.has_fork or one.has_fork
        row.replay_obstacle = known.obstacle or one.obstacle
        row.last_activity_at = max(row.last_activity_at, batch.last_activity(one))
        if one.moves_head:
            row.head_seq, row.head_move = one.head_seq, known.head_move + 1
        row.save(update_fields=_UPDATED)


def _reason(error: Exception) -> str:
    if isinstance(error, StoreError):
        return f"refused by the store: {error.explanation}"
    if isinstance(error, UnreadableError):
        return str(error)
    if isinstance(error, UnicodeError):
        return "a text that the database cannot hold"
    return f"refused by the database: {str(error).splitlines()[0]}"
