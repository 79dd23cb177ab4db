"""Recorded calls of an import file, through the recorder: each is placed, proved and once only."""

from datetime import datetime

from django.db import DatabaseError, transaction

from access.actors import Actor
from conversations.errors import StoreError
from conversations.imports.traffic import TrafficCall
from conversations.models import Account
from conversations.services.importing.report import ImportReport
from conversations.services.recording.exchange import RecordedExchange
from conversations.services.recording.record import record_exchange
from conversations.services.starting import start_conversation
from conversations.vocabulary import BodyProof, Source


def record_call(
    *, call: TrafficCall, account: Account, actor: Actor, now: datetime, report: ImportReport
) -> None:
    """Record one call and add it to the report; a call that was recorded before adds nothing."""
    try:
        recorded = _record(call, account, actor, now)
    except (DatabaseError, StoreError, UnicodeError) as error:
        report.fail(call.place, f"refused by the store: {str(error).splitlines()[0]}")
        return
    if recorded.was_known:
        report.counts["calls known"] += 1
        return
    report.counts["calls recorded"] += 1
    is_first = recorded.generation_number == 1 and min(recorded.new_seqs, default=1) == 1
    report.counts["conversations new"] += is_first
    report.counts["messages"] += len({*recorded.new_seqs, recorded.answer_seq} - {None})
    if recorded.proof != BodyProof.EXACT:
        report.counts[f"bodies {recorded.proof.value}"] += 1
    for text in (*call.notes, *recorded.notes):
        report.remark(call.place, text)


@transaction.atomic
def _record(call: TrafficCall, account: Account, actor: Actor, now: datetime) -> RecordedExchange:
    """The call and, where it names one, its conversation: both or neither."""
    conversation = None
    if call.conversation_ref:
        conversation = start_conversation(
            account_id=account.pk,
            now=now,
            source=Source.RECORDED,
            external_ref=call.conversation_ref[:255],
            started_at=call.started_at,
        )
    return record_exchange(
        account=account,
        request_body=call.request_body,
        response_body=call.response_body,
        dialect=call.dialect,
        actor=actor,
        now=now,
        provider=call.provider,
        http_status=call.http_status,
        exchange_id=call.exchange_id,
        conversation_id=conversation.pk if conversation else None,
        request_id=call.request_id,
        api_version=call.api_version,
        beta_headers=call.beta_headers,
        provider_request_id=call.provider_request_id,
        started_at=call.started_at,
        finished_at=call.finished_at,
    )
