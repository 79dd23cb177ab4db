"""Rows as a reconciliation or a webhook leaves them, for tests that only need them to be there."""

from datetime import datetime, timedelta
from typing import Any

from access.models import Realm
from conversations.ids import mint_id
from conversations.writing_order import next_in_order
from ledger.models import Dispute, Finding, ReconciliationRun, ToolEffect
from tests.conversations.conftest import NOW


def make_run(realm: Realm, *, at: datetime = NOW, **fields: Any) -> ReconciliationRun:
    """A run over the day before `at`, asked for by a job."""
    moments = {"since": at - timedelta(days=1)} | dict.fromkeys(
        ("until", "cut_off", "decisions_until", "requested_at"), at
    )
    return ReconciliationRun.objects.create(
        **{"id": mint_id(at), "realm": realm, "processor": "stripe", "policy": {}, "requested_by_kind": "job"}
        | {"written_before": next_in_order()}
        | moments
        | fields
    )


def make_finding(run: ReconciliationRun, *, subject: str, at: datetime = NOW, **fields: Any) -> Finding:
    """An open finding of that run alone, due at once."""
    moments = dict.fromkeys(("occurred_at", "first_seen_at", "last_seen_at", "judged_as_of", "due_at"), at)
    return Finding.objects.create(
        **{"realm": run.realm, "processor": run.processor, "subject": subject, "state": "open"}
        | {"first_run": run, "last_run": run}
        | moments
        | fields
    )


def make_dispute(effect: ToolEffect, reference: str, *, charge: str, at: datetime = NOW) -> Dispute:
    """An open dispute over 19.00 USD."""
    return Dispute.objects.create(
        id=mint_id(at),
        effect=effect,
        processor="stripe",
        external_ref=reference,
        charge_ref=charge,
        status="needs_response",
        amount_minor=1900,
        currency="usd",
        opened_at=at,
        seen_at=at,
        known_at=at,
    )
