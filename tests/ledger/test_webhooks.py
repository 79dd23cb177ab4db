import time

import pytest
from celery import current_app
from django.urls import reverse

from conversations.models import RawBody
from conversations.services.raw_bodies import open_raw_body
from ledger.models import WebhookEvent
from tests.ledger.stripe_events import charge, event, signature

pytestmark = pytest.mark.django_db

SECRET = "whsec_test"
BODY = event("charge.succeeded", charge(), event_id="evt_1")


@pytest.fixture
def post(client, settings, broker_url):
    settings.STRIPE_WEBHOOK_SECRETS = [SECRET]

    def send(body=BODY, *, secret=SECRET, at=None, header=None):
        return client.post(
            reverse("ledger:stripe_webhook"),
            body,
            content_type="application/json",
            headers={"Stripe-Signature": signature(body, secret, at=at) if header is None else header},
        )

    return send


def test_a_signed_event_is_kept_as_it_came_before_anything_is_done(post):
    assert post().status_code == 200

    kept = WebhookEvent.objects.select_related("raw").get()
    assert (kept.event_id, kept.type, kept.object_ref, kept.processed_at) == (
        "evt_1",
        "charge.succeeded",
        "ch_TEST0090",
        None,
    )
    assert open_raw_body(kept.raw) == BODY


def test_a_second_delivery_is_counted_and_kept_once(post):
    post()

    assert post().json() == {"received": "evt_1", "is_new": False}

    assert list(WebhookEvent.objects.values_list("deliveries")) == [(2,)]
    assert RawBody.objects.count() == 1


@pytest.mark.parametrize("header", ["", "t=1,v1=00", "nonsense"])
def test_what_nobody_signed_is_refused(post, header):
    answer = post(header=header)

    assert (answer.status_code, answer.json()) == (400, {"error": "not-signed"})
    assert (WebhookEvent.objects.count(), RawBody.objects.count()) == (0, 0)


def test_what_somebody_else_signed_is_refused(post):
    assert post(secret="whsec_other").status_code == 400


def test_a_signature_of_long_ago_is_refused(post):
    assert post(at=time.time() - 301).status_code == 400
    assert post(at=time.time() - 290).status_code == 200


def test_either_secret_counts_while_one_is_exchanged(post, settings):
    settings.STRIPE_WEBHOOK_SECRETS = ["whsec_new", SECRET]

    assert post().status_code == 200


def test_what_is_too_large_is_refused_unread(post, settings):
    settings.WEBHOOK_BYTES_LIMIT = len(BODY) - 1

    assert post().status_code == 413
    assert RawBody.objects.count() == 0


@pytest.mark.parametrize("body", [b"[]", b"{}", b"not json", b'{"id": "evt_1", "created": 1, "data": {}}'])
def test_what_is_signed_but_no_event_is_refused(post, body):
    assert post(body).json() == {"error": "not-an-event"}


def test_without_a_secret_nothing_is_taken(post, settings):
    settings.STRIPE_WEBHOOK_SECRETS = []

    assert post().status_code == 503


def test_an_event_is_kept_where_no_broker_answers(post, monkeypatch):
    monkeypatch.setattr(current_app.conf, "broker_url", "redis://127.0.0.1:9/0")
    began = time.monotonic()

    assert post().status_code == 200

    assert time.monotonic() - began < 3
    assert WebhookEvent.objects.count() == 1


def test_reading_the_address_is_no_webhook(client):
    assert client.get(reverse("ledger:stripe_webhook")).status_code == 405
