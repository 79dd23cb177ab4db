"""The demo's processor has in its books what the sample company's ledger has: asked, it agrees."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from access.actors import Actor, ActorKind
from access.models import Realm
from jobs.services.starting import start_job
from ledger.models import Compensation, ToolEffect
from ledger.reconciliation.daily import start_daily_runs
from ledger.reconciliation.running import reconcile
from ledger.reconciliation.starting import Asked, start_reconciliation
from ledger.services import sweeping
from ledger.services.compensating import approve_compensation, request_compensation
from ledger.services.pulling import pull
from ledger.services.refunding import send_refund
from ledger.statements.pulling import pull_statement
from ledger.vocabulary import CompensationReason
from samples.company import books
from samples.company import processor_ids as ids
from samples.company.ledger import load_ledger
from samples.company.load import load_company
from samples.processor.process import Processor, run_processor

pytestmark = pytest.mark.django_db(transaction=True)

SWEEPER = Actor(ActorKind.JOB, "sweep")


@pytest.fixture
def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def demo(now, settings, tmp_path) -> Iterator[Processor]:
    """The company and its ledger, and a sandbox on the books that tell the same."""
    load_company(today=now, crowd_size=0)
    load_ledger(today=now)
    path = tmp_path / "books.sqlite3"
    call_command("write_sandbox_books", path, verbosity=0)
    with run_processor(data=path) as processor:
        settings.STRIPE_API_KEY = processor.api_key
        settings.STRIPE_API_BASE = processor.base_url
        yield processor


def states() -> dict[str, str]:
    return {str(effect.pk): effect.state for effect in ToolEffect.objects.all()}


def test_asked_by_hand_by_the_sweeper_and_at_night_the_books_agree_with_the_ledger(demo, now):
    before = states()

    # Every event of the books is known, or changes nothing.
    pull(processor="stripe", since=now - timedelta(days=29), until=now, now=now)
    # What nobody knows still waits at the customer's bank.
    fare = ToolEffect.objects.get(references__reference=ids.INES_FARE_INTENT)
    assert sweeping.look(effect_id=fare.pk, actor=SWEEPER, now=now) == "pending"
    assert states() == before

    # Nothing is missing on either side and no amount differs: only what the stories are about.
    found = {kind for realm in Realm.objects.order_by("pk") for kind in compare(realm, now)}
    assert found == {"abandoned", "duplicate", "stale_pending", "refund_failed_later", "dispute_open"}

    job = start_job(kind="ledger.reconcile_daily", requested_by=("job", "beat"), now=now)
    done = start_daily_runs(run_id=job.pk, clock=lambda: now)
    assert done.counts == {"realms": {"started": Realm.objects.count()}}
    assert states() == before


def compare(realm: Realm, now: datetime) -> list[str]:
    """Compare sixty days of the processor's own lists with the ledger; return the kinds of findings."""
    window = {"since": now - timedelta(days=60), "until": now}
    pulled = pull_statement(realm=realm, processor="stripe", actor=SWEEPER, now=now, **window)
    asked = Asked(realm=realm, processor="stripe", statement_ids=[pulled.statement.pk])
    run = start_reconciliation(asked=asked, actor=SWEEPER, now=now)
    reconcile(run_id=run.job_id, clock=lambda: now)
    return list(run.sightings.values_list("kind", flat=True).distinct())


def test_a_refund_of_the_demo_goes_out_and_settles(demo, now):
    charge = ToolEffect.objects.get(external_ref=ids.INES_FIRST_CHARGE)
    asked = request_compensation(
        effect_id=charge.pk,
        amount_minor=18000,
        reason=CompensationReason.ABANDONED,
        user=User.objects.create_user("ann"),
        now=now,
    )
    approve_compensation(compensation_id=asked.pk, user=User.objects.create_user("ben"), now=now)

    assert send_refund(compensation_id=asked.pk, actor=SWEEPER, now=now) == "settled"

    charge.refresh_from_db()
    assert charge.state == "compensated"
    [refund] = demo.client().v1.refunds.list({"charge": ids.INES_FIRST_CHARGE}).data
    assert refund.amount == 18000


def test_a_movement_whose_charge_the_ledger_has_not_is_left_out(tmp_path, monkeypatch):
    stray = Compensation(effect=ToolEffect(external_ref="ch_gone"), amount_minor=500, external_ref="re_1")
    entry = (datetime(2026, 1, 1, tzinfo=UTC), books._refund(stray))
    monkeypatch.setattr(books, "_entries", lambda: iter([entry]))
    assert books.write_books(tmp_path / "books.sqlite3") == books.Books(written=0, left_out=1)
