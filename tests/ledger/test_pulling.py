from datetime import timedelta

import pytest
import stripe

from jobs.models import JobRun
from jobs.services.starting import start_job
from jobs.services.steering import free_abandoned
from ledger.models import Compensation, ToolEffect, WebhookEvent
from ledger.processors import adapter_for
from ledger.processors.protocol import ProcessorUnreachableError
from ledger.processors.stripe.adapter import StripeAdapter
from ledger.services import duties, events
from ledger.services.compensating import approve_compensation, request_compensation
from ledger.services.events import take_in_event
from ledger.services.pulling import pull, take_in_window, window
from tests.ledger.stripe_events import charge as charge_object
from tests.ledger.stripe_events import event

pytestmark = pytest.mark.django_db


@pytest.fixture
def paid(talk, charge_card, charge):
    talk.says()
    return charge(talk, talk.calls("toolu_1"), "toolu_1").effect


@pytest.fixture
def unheard(talk, charge_card, charge, processor):
    """Charged, and the answer was lost."""
    talk.says()
    seq = talk.calls("toolu_1")
    processor.ask_for("answer_lost")
    with pytest.raises(stripe.APIConnectionError):
        charge(talk, seq, "toolu_1")
    return ToolEffect.objects.get()


def pulled(clock):
    now = clock() + timedelta(seconds=2)
    return pull(processor="stripe", since=now - timedelta(hours=1), until=now, now=now)


def run(duty, kind, clock, **given):
    job = start_job(kind=kind, requested_by=("staff", "1"), now=clock(), **given)
    return duty(run_id=job.pk, clock=clock)


def test_a_pull_heals_what_no_webhook_brought(unheard, clock):
    counts = pulled(clock)

    unheard.refresh_from_db()
    assert (unheard.state, counts["new"] == counts["seen"]) == ("applied", True)
    assert unheard.moves.latest("number").source == "events"


def test_a_second_pull_brings_nothing_new(unheard, clock):
    pulled(clock)
    moves = unheard.moves.count()

    assert pulled(clock)["new"] == 0
    assert unheard.moves.count() == moves


def test_events_that_are_taken_in_together_are_worked_on_oldest_first(unheard, clock, processor):
    """A list begins with the newest; keys of one moment would be in no order."""
    processor.pull("refunds", {"charge": processor.books()["charges"][0]["id"], "amount": 500})
    until = clock() + timedelta(seconds=2)
    listed = [
        event["id"] for event in adapter_for("stripe").events(since=until - timedelta(hours=1), until=until)
    ]

    for _ in take_in_window(processor="stripe", since=until - timedelta(hours=1), until=until, now=until):
        pass

    assert len(listed) > 3
    by_key = WebhookEvent.objects.order_by("pk").values_list("event_id", flat=True)
    assert list(by_key) == listed[::-1]


def test_a_refund_made_in_the_dashboard_is_found(paid, clock, processor):
    processor.pull("refunds", {"charge": paid.external_ref, "amount": 500})

    pulled(clock)

    paid.refresh_from_db()
    assert (paid.state, paid.amount_compensated_minor) == ("applied", 500)
    assert Compensation.objects.get().origin == "processor"


def test_a_refund_that_the_bank_sent_back_is_found(paid, clock, processor):
    refund = processor.pull("refunds", {"charge": paid.external_ref, "amount": 1900})
    pulled(clock)
    processor.fail_refund(refund["id"])

    pulled(clock)

    paid.refresh_from_db()
    assert (paid.state, paid.amount_compensated_minor) == ("applied", 0)
    assert Compensation.objects.get().state == "failed"


def test_what_a_partial_capture_released_is_no_refund(
    talk, charge_card, charge, stripe_api, clock, stripe_settings
):
    talk.says()
    effect = charge(talk, talk.calls("toolu_1"), "toolu_1", capture_method="manual").effect
    assert effect.state == "pending"
    intent = effect.references.get(kind="intent").reference
    stripe_api.payment_intents.capture(intent, {"amount_to_capture": 1200})

    pulled(clock)

    effect.refresh_from_db()
    assert (effect.state, effect.amount_settled_minor, effect.amount_compensated_minor) == (
        "applied",
        1200,
        0,
    )
    assert Compensation.objects.count() == 0


def test_the_sweep_is_a_job_with_its_counts(unheard, clock, processor):
    processor.turn_clock(seconds=180)

    job = run(duties.sweep_effects, "ledger.sweep", clock)

    unheard.refresh_from_db()
    assert (unheard.state, job.state, job.counts) == ("applied", "succeeded", {"effects": {"applied": 1}})


def test_a_dry_run_of_the_sweep_looks_at_nothing(unheard, clock, processor):
    processor.turn_clock(seconds=180)

    job = run(duties.sweep_effects, "ledger.sweep", clock, is_dry_run=True)

    unheard.refresh_from_db()
    assert (unheard.state, unheard.looked_at, job.counts) == ("pending", None, {"effects": {"due": 1}})


def test_a_run_that_has_been_claimed_is_left_alone(unheard, clock):
    job = start_job(kind="ledger.sweep", requested_by=("staff", "1"), now=clock())
    JobRun.objects.filter(pk=job.pk).update(state="stopped", finished_at=clock())

    assert duties.sweep_effects(run_id=job.pk, clock=clock) is None


def test_approved_refunds_are_sent_by_a_job(paid, clock, staff):
    compensation = request_compensation(
        effect_id=paid.pk, amount_minor=1900, reason="error", user=staff("ann"), now=clock()
    )
    approve_compensation(compensation_id=compensation.pk, user=staff("ben"), now=clock())

    job = run(duties.send_due_refunds, "ledger.send_refunds", clock)

    paid.refresh_from_db()
    assert (paid.state, job.counts) == ("compensated", {"refunds": {"settled": 1}})


def test_events_that_no_worker_heard_of_are_worked_on_by_a_job(bought, clock):
    body = event(
        "charge.succeeded",
        charge_object(metadata={"counterfoil_effect": str(bought.pk)}),
        event_id="evt_1",
    )
    take_in_event(processor="stripe", body=body, now=clock())

    job = run(duties.work_waiting_events, "ledger.work_events", clock)

    assert (WebhookEvent.objects.get().trouble, job.counts) == ("", {"events": {"settled": 1}})


def test_the_pull_is_a_job_and_its_next_window_overlaps(unheard, clock, processor):
    processor.turn_clock(seconds=2)

    job = run(duties.pull_missed_events, "ledger.pull", clock)

    unheard.refresh_from_db()
    assert (unheard.state, job.state) == ("applied", "succeeded")
    since, _ = window(now=clock())
    assert since == job.started_at - timedelta(minutes=30)


class WorkerDiedError(BaseException):
    """As a kill does, it passes by everything that would clear up."""


def test_events_that_a_dead_worker_took_in_are_worked_on_by_the_pull_that_goes_on(
    unheard, clock, processor, monkeypatch
):
    processor.turn_clock(seconds=2)
    job = start_job(kind="ledger.pull", requested_by=("job", "beat"), now=clock())

    def dies(**event):
        raise WorkerDiedError

    with monkeypatch.context() as patch:
        patch.setattr(events, "work_event", dies)
        with pytest.raises(WorkerDiedError):
            duties.pull_missed_events(run_id=job.pk, clock=clock)
    processor.turn_clock(seconds=360)
    free_abandoned(now=clock())
    done = duties.pull_missed_events(run_id=job.pk, clock=clock)

    unheard.refresh_from_db()
    assert (unheard.state, done.state, done.done) == ("applied", "succeeded", WebhookEvent.objects.count())
    assert not WebhookEvent.objects.filter(processed_at=None).exists()


def test_a_processor_that_does_not_answer_ends_the_run_early(unheard, clock, processor):
    processor.turn_clock(seconds=180)
    processor.ask_for("cut_before", method="GET", times=9)

    job = run(duties.sweep_effects, "ledger.sweep", clock)

    assert (job.state, job.counts) == ("succeeded", {"effects": {"unreachable": 1}})


def test_a_window_is_pulled_to_its_end_though_some_of_it_has_to_be_asked_about(
    talk, charge_card, charge, stripe_api, clock, stripe_settings, processor, monkeypatch
):
    """Six refunds, of which only the processor can say what they are: it lists events, and no more."""
    talk.says()
    effect = charge(talk, talk.calls("toolu_1"), "toolu_1", capture_method="manual").effect
    captured = stripe_api.payment_intents.capture(
        effect.references.get(kind="intent").reference, {"amount_to_capture": 1200}
    )
    for _ in range(6):
        processor.pull("refunds", {"charge": captured.latest_charge, "amount": 100})
    processor.turn_clock(seconds=2)

    def unreachable(*args, **given):
        raise ProcessorUnreachableError

    with monkeypatch.context() as patch:
        patch.setattr(StripeAdapter, "is_release", unreachable)
        patch.setattr(StripeAdapter, "find_refunds", unreachable)
        job = run(duties.pull_missed_events, "ledger.pull", clock)

    assert job.state == "succeeded"
    assert pulled(clock)["new"] == 0
    run(duties.work_waiting_events, "ledger.work_events", clock)
    effect.refresh_from_db()
    assert (effect.amount_settled_minor, effect.amount_compensated_minor) == (1200, 600)
