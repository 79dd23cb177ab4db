import itertools
import json
from datetime import timedelta

import pytest
from django.db import transaction

from jobs.services.starting import start_job
from ledger.errors import InsideTransactionError
from ledger.models import Compensation, Contradiction, Dispute, EffectReference, ToolEffect, WebhookEvent
from ledger.querysets import find_effects_by_reference, not_paid_back
from ledger.services.duties import work_waiting_events
from ledger.services.events import take_in_event, work_event, work_waiting_for
from ledger.services.hearing import RawAnswer, hear_answer
from ledger.services.sending import mark_sent
from tests.ledger.conftest import AGENT, LATER, NOW
from tests.ledger.hearing import books, hear
from tests.ledger.stripe_events import CREATED, charge, dispute, event, refund

pytestmark = pytest.mark.django_db

INTENT = {
    "id": "pi_TEST0090",
    "object": "payment_intent",
    "status": "succeeded",
    "amount_received": 5000,
    "currency": "usd",
    "latest_charge": "ch_TEST0090",
    "created": CREATED,
}


@pytest.fixture
def charged(open_effect):
    metadata = {"counterfoil_effect": str(open_effect.pk)}
    return lambda **given: charge(**{"metadata": metadata, **given})


def test_a_charge_is_tied_to_its_effect_by_metadata(open_effect, charged):
    heard = hear("charge.succeeded", charged(), "evt_1")

    assert books(open_effect) == ("applied", 5000, 0)
    assert (heard.trouble, heard.effect, heard.processed_at) == ("", open_effect, LATER)
    move = open_effect.moves.latest("number")
    assert (move.source, move.evidence_ref, move.raw_id) == ("webhook", "ch_TEST0090", heard.raw_id)


def test_an_intent_is_tied_to_its_effect_by_the_key_of_its_request(open_effect):
    hear("payment_intent.succeeded", INTENT, "evt_1", key=open_effect.idempotency_key)

    assert books(open_effect) == ("applied", 5000, 0)


ORDERS = [
    order
    for times in itertools.product((1, 2, 3), repeat=2)
    for order in set(itertools.permutations("c" * times[0] + "r" * times[1]))
]


@pytest.mark.parametrize("order", sorted(ORDERS), ids="".join)
def test_every_order_and_number_of_deliveries_ends_alike(open_effect, charged, order):
    for letter in order:
        if letter == "c":
            hear("charge.succeeded", charged(), "evt_c")
        else:
            hear("refund.created", refund(), "evt_r")

    assert books(open_effect) == ("applied", 5000, 1200)
    assert (ToolEffect.objects.count(), Compensation.objects.count()) == (1, 1)
    assert not WebhookEvent.objects.filter(trouble="unmatched").exists()


def test_a_refund_waits_as_unmatched_until_its_charge_is_known(open_effect, charged):
    hear("refund.created", refund(), "evt_r")

    [waiting] = WebhookEvent.objects.filter(trouble="unmatched")
    assert (waiting.object_ref, waiting.effect) == ("ch_TEST0090", None)

    hear("charge.succeeded", charged(), "evt_c")

    assert not WebhookEvent.objects.filter(trouble="unmatched").exists()
    assert WebhookEvent.objects.get(event_id="evt_r").effect == open_effect


def test_a_charge_without_metadata_that_comes_before_the_answer_waits_for_it(open_effect):
    assert hear("charge.succeeded", charge(), "evt_c").trouble == "unmatched"

    raw = RawAnswer(status=200, body=json.dumps(INTENT).encode())
    hear_answer(effect_id=open_effect.pk, raw=raw, actor=AGENT, now=LATER)

    assert books(open_effect) == ("applied", 5000, 0)
    heard = WebhookEvent.objects.get()
    assert (heard.trouble, heard.effect, heard.attempts) == ("", open_effect, 2)


def test_what_a_waiting_event_ties_to_the_effect_is_waited_for_no_longer_either(open_effect):
    hear("refund.created", refund(), "evt_r")
    hear("payment_intent.succeeded", INTENT, "evt_i")
    assert WebhookEvent.objects.filter(trouble="unmatched").count() == 2

    mark_sent(effect_id=open_effect.pk, now=LATER, find_by={"payment_intent": "pi_TEST0090"})
    assert work_waiting_for(reference="pi_TEST0090", now=LATER) == 2

    assert books(open_effect) == ("applied", 5000, 1200)
    assert set(WebhookEvent.objects.values_list("trouble", "effect")) == {("", open_effect.pk)}


def worked_again(now):
    job = start_job(kind="ledger.work_events", requested_by=("job", "beat"), now=now)
    return work_waiting_events(run_id=job.pk, clock=lambda: now).counts


def test_what_waited_for_an_id_that_a_dead_worker_learnt_is_worked_on_by_the_job(open_effect):
    hear("payment_intent.succeeded", INTENT, "evt_i")
    mark_sent(effect_id=open_effect.pk, now=LATER, find_by={"payment_intent": "pi_TEST0090"})

    assert worked_again(LATER + timedelta(minutes=5)) == {"events": {"settled": 1}}

    assert books(open_effect) == ("applied", 5000, 0)


def test_what_was_unmatched_in_spite_of_a_known_id_is_not_worked_on_for_ever(open_effect):
    """The id is known as what a refund was for: the charge itself was made outside."""
    EffectReference.objects.create(
        effect=open_effect, processor="stripe", kind="target", reference="ch_TEST0090", seen_at=NOW
    )
    assert hear("charge.succeeded", charge(), "evt_c").trouble == "unmatched"

    assert worked_again(LATER + timedelta(hours=1)) == {"events": {"unmatched": 1}}
    assert worked_again(LATER + timedelta(hours=2)) == {}

    assert WebhookEvent.objects.get().attempts == 2


def test_part_refunds_are_lines_and_not_the_running_total(open_effect, charged):
    hear("charge.succeeded", charged(), "evt_0")
    for number, amount_refunded, name in ((1, 1000, "re_A"), (2, 2000, "re_B"), (2, 2000, "re_B")):
        embedded = {"data": [refund(name, amount=1000)]}
        hear(
            "charge.refunded",
            charged(amount_refunded=amount_refunded, refunds=embedded),
            f"evt_{number}",
        )

    assert books(open_effect) == ("applied", 5000, 2000)
    assert sorted(Compensation.objects.values_list("external_ref", "amount_minor")) == [
        ("re_A", 1000),
        ("re_B", 1000),
    ]


def test_a_refund_under_a_charges_event_name_is_read_as_a_refund(open_effect, charged):
    hear("charge.succeeded", charged(), "evt_1")
    hear("refund.created", refund(amount=5000), "evt_2")
    assert books(open_effect) == ("compensated", 5000, 5000)

    failed = refund(amount=5000, status="failed", failure_reason="expired_or_canceled_card")
    hear("charge.refund.updated", failed, "evt_3", created=CREATED + 172800)

    assert books(open_effect) == ("applied", 5000, 0)
    lost = Compensation.objects.get()
    assert (lost.state, lost.failure_code) == ("failed", "expired_or_canceled_card")
    assert lost.failed_at > lost.settled_at


def test_a_second_charge_of_one_effect_is_kept_beside_the_first(open_effect, charged):
    hear("charge.succeeded", charged(charge_id="ch_TEST0070", payment_intent="pi_70"), "evt_1")
    hear("charge.succeeded", charged(charge_id="ch_TEST0071", payment_intent="pi_71"), "evt_2")

    assert open_effect.contradictions.get().reference == "ch_TEST0071"
    for either in ("ch_TEST0070", "ch_TEST0071"):
        assert list(find_effects_by_reference(either)) == [open_effect]


def test_a_dispute_opens_and_closes_by_the_processors_time(open_effect, charged):
    hear("charge.succeeded", charged(), "evt_1")
    hear("charge.dispute.closed", dispute(status="won"), "evt_3", created=CREATED + 900)
    hear("charge.dispute.created", dispute(), "evt_2", created=CREATED + 90)

    found = Dispute.objects.get()
    assert (found.status, found.effect, found.closed_at is None) == ("won", open_effect, False)
    assert not Dispute.objects.filter(effect=open_effect, closed_at=None).exists()


def test_an_open_dispute_holds_its_conversation(open_effect, charged):
    hear("charge.succeeded", charged(), "evt_1")
    hear("charge.dispute.created", dispute("du_1"), "evt_2")

    [held] = Dispute.objects.filter(effect=open_effect, closed_at=None)
    assert (held.external_ref, held.amount_minor) == ("du_1", 5000)
    assert list(find_effects_by_reference("du_1")) == [open_effect]


def test_an_authorisation_moves_nothing_until_it_is_captured(open_effect, charged):
    hear("charge.succeeded", charged(captured=False, amount_captured=0), "evt_1")
    assert books(open_effect) == ("pending", None, 0)

    hear("charge.captured", charged(amount_captured=3000, amount_refunded=2000), "evt_2")

    assert books(open_effect) == ("applied", 3000, 0)


def test_an_authorisation_that_is_given_back_has_failed(open_effect, charged):
    released = charged(captured=False, amount_captured=0, amount_refunded=5000, refunded=True)

    hear("charge.expired", released, "evt_1")

    assert books(open_effect) == ("failed", None, 0)


def test_what_only_the_processor_can_tell_waits_until_it_answers(open_effect, charged, settings):
    settings.STRIPE_API_KEY = ""
    hear("charge.succeeded", charged(), "evt_1")

    heard = hear("charge.refunded", charged(amount_refunded=700), "evt_2")

    assert (heard.trouble, heard.processed_at) == ("processor_unreachable", None)
    assert books(open_effect) == ("applied", 5000, 0)


def test_what_the_processor_knows_nothing_of_is_left_to_a_person(open_effect, charged, stripe_settings):
    hear("charge.succeeded", charged(), "evt_1")

    heard = hear("charge.refunded", charged(amount_refunded=700), "evt_2")

    assert (heard.trouble, heard.processed_at) == ("processor_not_told", LATER)
    assert books(open_effect) == ("applied", 5000, 0)


def test_an_event_of_nothing_we_know_is_done_without_trouble(open_effect):
    heard = hear("payout.paid", {"id": "po_1", "object": "payout"}, "evt_1")

    assert (heard.trouble, heard.processed_at, heard.object_ref) == ("", LATER, "")


def test_metadata_that_name_no_effect_leave_the_event_unmatched(open_effect):
    hear("charge.succeeded", charge(metadata={"counterfoil_effect": "x'; --"}), "evt_1")

    assert WebhookEvent.objects.filter(trouble="unmatched").count() == 1
    assert EffectReference.objects.count() == 0


def test_working_again_changes_nothing_that_stands(open_effect, charged):
    heard = hear("charge.succeeded", charged(), "evt_1")

    again = work_event(event_id=heard.pk, now=LATER, is_again=True)

    assert (again.attempts, open_effect.moves.count(), Contradiction.objects.count()) == (2, 2, 0)


def test_an_event_whose_raw_body_is_gone_says_so(open_effect, charged):
    heard = hear("charge.succeeded", charged(), "evt_1")
    WebhookEvent.objects.filter(pk=heard.pk).update(raw=None)

    assert work_event(event_id=heard.pk, now=LATER, is_again=True).trouble == "raw_is_gone"


def test_events_are_not_worked_on_inside_a_transaction(open_effect, charged):
    body = event("charge.succeeded", charged(), event_id="evt_1")
    taken = take_in_event(processor="stripe", body=body, now=LATER)

    with pytest.raises(InsideTransactionError), transaction.atomic():
        work_event(event_id=taken.event.pk, now=LATER)


def test_a_currency_is_never_taken_for_the_one_that_it_begins_like(open_effect, charged):
    hear("charge.succeeded", charged(currency="usdt", amount=5, amount_captured=5), "evt_1")

    assert books(open_effect) == ("applied", None, 0)
    assert Contradiction.objects.get().kind == "other_currency"


@pytest.mark.parametrize("order", sorted(itertools.permutations("csf")), ids="".join)
def test_a_refund_that_came_back_ends_alike_in_every_order(open_effect, charged, order):
    """No processor can be asked here: what the events say has to be enough."""
    whole = charged(amount_refunded=5000, refunds={"data": [refund(amount=5000)]})
    failed = refund(amount=5000, status="failed", failure_reason="expired_or_canceled_card")
    events = {
        "c": ("charge.succeeded", charged(), 0),
        "s": ("charge.refunded", whole, 60),
        "f": ("charge.refund.updated", failed, 172800),
    }
    for letter in order:
        kind, carried, after = events[letter]
        hear(kind, carried, f"evt_{letter}", created=CREATED + after)

    lost = Compensation.objects.get()
    assert books(open_effect) == ("applied", 5000, 0)
    assert (lost.state, (lost.failed_at - lost.settled_at).total_seconds()) == ("failed", 172800 - 60)
    assert list(not_paid_back()) == [lost]
    assert not WebhookEvent.objects.exclude(trouble="").exists()
