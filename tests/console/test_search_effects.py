"""The search box finds effects by every id that the processor or we know them by."""

import pytest
from django.db import connection

from access.models import Realm
from access.reach import Reach
from access.reading import reading_as
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
from ledger.prefixes import statement
from ledger.services.disputes import take_dispute
from ledger.services.refunds import take_refund
from tests.console import money
from tests.console.conftest import NOW
from tests.conversations.drafts import user
from tests.ledger.made_rows import make_dispute
from tests.ledger.seen import disputed, refunded


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
    make_dispute(effect, "dp_100", charge="ch_100")
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


def test_the_beginning_of_the_processors_ids_finds_the_effect(log_in, effect):
    refund = refunded("re_100_abc", charge="ch_100")
    take_refund(effect_id=effect.pk, seen=refund, actor=money.AGENT, now=NOW)
    bank = disputed(reference="dp_100_abc", charge_ref="ch_100")
    take_dispute(effect_id=effect.pk, seen=bank, now=NOW)
    support = log_in(RoleName.SUPPORT)

    def begin_so(client, term: str) -> list[tuple[str, str, str]]:
        return [(place.kind, place.by, place.ident) for place in find(client, term).context["exact"].prefixed]

    assert begin_so(support, "pi_ch_1") == [("Effect", "payment intent", "pi_ch_100")]
    assert begin_so(support, "re_100") == [("Effect", "refund", "re_100_abc")]
    assert begin_so(support, "dp_100_a") == [("Effect", "dispute", "dp_100_abc")]
    # Too short, another case, and signs that mean something to LIKE.
    for term in ("re_10", "RE_100", "re%100", "re_10_"):
        assert begin_so(support, term) == []
    assert begin_so(log_in(RoleName.SUPPORT, realms=[], name="nowhere"), "pi_ch_1") == []


def test_beginnings_are_ranges_of_an_index_under_the_policies(effect, realm):
    values = {"begin": "ch_100", "end": "ch_101", "most": 50}
    with reading_as(Reach(realm_ids=frozenset({realm.pk}))), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {statement()}", values)
        plan = "\n".join(line for (line,) in cursor.fetchall())

    ranges = [line.strip() for line in plan.splitlines() if "~>=~" in line]
    assert len(ranges) == 6
    assert [line for line in ranges if not line.startswith("Index Cond: ")] == []
    assert "Seq Scan" not in plan


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
        # A realm's id, as the page gives it: with so few rows a join would be planned by either index.
        ToolEffect.objects.filter(realm__in=[effect.realm_id], idempotency_key="x"),
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
