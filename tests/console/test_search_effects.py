"""The search box finds effects by every id that the processor or we know them by."""

import pytest
from django.db import connection

from access.models import Realm
from access.rights import RoleName
from conversations.drafts import MessageDraft
from conversations.ids import mint_id
from conversations.models import ConversationNote
from conversations.vocabulary import Role
from ledger.models import (
    Compensation,
    Contradiction,
    Dispute,
    EffectReference,
    ToolEffect,
    WebhookEvent,
)
from ledger.services.refunds import take_refund
from tests.console import money
from tests.console.conftest import NOW
from tests.conversations.drafts import user
from tests.ledger.seen import refunded


@pytest.fixture
def effect(make_conversation, say, make_staff):
    conversation = make_conversation()
    money.register_tool(conversation, make_staff(RoleName.ADMINISTRATOR, name="registrar"))
    say(conversation, user())
    seq = say(conversation, MessageDraft(role=Role.ASSISTANT, parts=[money.charging("toolu_100")]))
    return money.settle(money.begin(conversation, seq, "toolu_100"), "ch_100")


def find(client, pasted: str):
    return client.get("/search/", {"q": pasted})


def test_every_id_of_a_charge_leads_to_its_effect(log_in, effect):
    take_refund(effect_id=effect.pk, seen=refunded("re_100", charge="ch_100"), actor=money.AGENT, now=NOW)
    Dispute.objects.create(
        id=mint_id(NOW),
        effect=effect,
        processor="stripe",
        external_ref="dp_100",
        charge_ref="ch_100",
        status="needs_response",
        amount_minor=1900,
        currency="usd",
        opened_at=NOW,
        seen_at=NOW,
        known_at=NOW,
    )
    WebhookEvent.objects.create(
        id=mint_id(NOW),
        processor="stripe",
        event_id="evt_100",
        type="charge.succeeded",
        object_ref="ch_100",
        occurred_at=NOW,
        received_at=NOW,
        effect=effect,
    )
    support = log_in(RoleName.SUPPORT)
    ids = ["ch_100", "pi_ch_100", "re_100", "dp_100", "evt_100", effect.idempotency_key, str(effect.pk)]

    found = {pasted: find(support, pasted).headers.get("Location") for pasted in ids}

    assert found == dict.fromkeys(ids, f"/effects/{effect.pk}/")


def test_the_beginning_of_an_effects_id_finds_it(log_in, effect):
    page = find(log_in(RoleName.SUPPORT), str(effect.pk)[:18])

    assert "Effect" in [place.kind for place in page.context["exact"].prefixed]


def test_a_call_and_its_charge_are_listed_with_their_states(log_in, effect):
    page = find(log_in(RoleName.SUPPORT), "toolu_100 ch_100")

    assert [(place.kind, place.state, place.minor) for place in page.context["exact"].places] == [
        ("Tool call", "requested", None),
        ("Effect", "applied", 1900),
    ]


def test_effects_of_a_realm_that_is_not_seen_are_not_found(log_in, effect):
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)

    page = find(log_in(RoleName.SUPPORT, realms=[elsewhere]), "ch_100")

    assert page.context["exact"].places == []


def test_each_probe_of_an_id_walks_an_index(effect):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
    probes = (
        EffectReference.objects.filter(reference="x"),
        ToolEffect.objects.filter(external_ref="x"),
        ToolEffect.objects.filter(realm__in=Realm.objects.all(), idempotency_key="x"),
        Compensation.objects.filter(external_ref="x"),
        Compensation.objects.filter(idempotency_key="x"),
        Dispute.objects.filter(external_ref="x"),
        Dispute.objects.filter(charge_ref="x"),
        Contradiction.objects.filter(reference="x"),
        WebhookEvent.objects.filter(processor__in=["stripe"], event_id="x"),
        ConversationNote.objects.filter(ticket="x"),
    )

    plans = [probe.explain() for probe in probes]

    assert [plan for plan in plans if "Index Cond" not in plan] == []
