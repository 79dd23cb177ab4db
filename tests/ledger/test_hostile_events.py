"""Events with anything at all in their fields, of a thin shape, or none: nothing moves for them."""

import json

import pytest

from ledger.models import WebhookEvent
from ledger.processors.stripe.reader import StripeReader
from ledger.services.events import parse, take_in_event, work_event
from tests.ledger.conftest import LATER
from tests.ledger.hearing import books, hear
from tests.ledger.stripe_events import charge, dispute, event, refund

pytestmark = pytest.mark.django_db

HOSTILE = [None, "", -1, 10**30, 1.5, True, "x" * 5000, "\x00", "\ud83d", [], {}, {"id": None}]
NAMED_AS = {"charge": "charge.succeeded", "refund": "refund.created", "dispute": "charge.dispute.created"}


@pytest.mark.parametrize("made", [charge, refund, dispute], ids=["charge", "refund", "dispute"])
def test_whatever_stands_in_a_field_is_read_as_what_a_column_holds(made):
    kind = str(made()["object"])
    for field in (*made(), "refunds", "failure_reason", "last_payment_error"):
        for value in HOSTILE:
            carried = {**made(), field: value}
            seen = StripeReader().read_event(parse(event(NAMED_AS[kind], carried, event_id="evt_1"))).seen

            for one in seen:
                told = {name: getattr(one, name) for name in one.__dataclass_fields__}
                words = [word for word in told.values() if isinstance(word, str)]
                assert all(len(word) <= 255 and "\x00" not in word for word in words)
                assert all(word.encode() for word in words if word)
                assert told["reference"]
                assert told["amount_minor"] is None or abs(told["amount_minor"]) < 2**63


@pytest.mark.parametrize("value", ["x" * 5000, "\x00", "\ud83d", 10**30])
def test_an_event_whose_every_field_is_hostile_is_kept_and_moves_nothing(open_effect, value):
    carried = dict.fromkeys((*charge(), "reason"), value) | {"object": "dispute"}

    heard = hear("charge.dispute.created", carried, "evt_1")

    assert books(open_effect) == ("pending", None, 0)
    assert WebhookEvent.objects.get() == heard


def test_an_event_nested_without_end_is_none():
    with pytest.raises(ValueError, match="nested too deeply"):
        parse(b'{"data":' + b"[" * 100_000)


def test_a_thin_event_is_kept_and_moves_nothing(open_effect):
    thin = {
        "id": "evt_thin",
        "object": "v2.core.event",
        "type": "v1.billing.meter.error_report_triggered",
        "created": "2026-03-09T14:03:00.246Z",
        "related_object": {"id": "mtr_1", "type": "billing.meter", "url": "/v1/billing/meters/mtr_1"},
    }

    taken = take_in_event(processor="stripe", body=json.dumps(thin).encode(), now=LATER)
    heard = work_event(event_id=taken.event.pk, now=LATER)

    assert (heard.trouble, heard.processed_at, heard.object_ref) == ("", LATER, "")
    assert books(open_effect) == ("pending", None, 0)


@pytest.mark.parametrize("created", [None, 1773064980, "yesterday", "2026-03-09T14:03:00"])
def test_a_thin_event_without_a_time_is_none(created):
    thin = {"id": "evt_thin", "object": "v2.core.event", "type": "v1.x", "created": created}

    with pytest.raises(ValueError, match="not an event"):
        take_in_event(processor="stripe", body=json.dumps(thin).encode(), now=LATER)
