"""The statement of an account: movements in the order of the money, sums per currency, CSV."""

import csv
import io

import pytest
from django.contrib.auth.models import User

from access.models import AccessEntry
from access.rights import RoleName
from conversations.drafts import MessageDraft
from conversations.vocabulary import Role
from ledger.services.events import take_in_event, work_event
from ledger.services.refunds import take_refund
from ledger.services.sending import mark_sent
from ledger.services.settling import settle_effect
from ledger.vocabulary import EffectState, ReferenceKind
from tests.console import money
from tests.console.conftest import NOW
from tests.conversations.drafts import user
from tests.ledger.seen import charged, refunded
from tests.ledger.stripe_events import event, refund

PERIOD = "from=2026-03-01&to=2026-03-31"


@pytest.fixture
def paid(make_conversation, say, make_staff):
    conversation = make_conversation()
    money.register_tool(conversation, make_staff(RoleName.ADMINISTRATOR, name="registrar"))
    say(conversation, user())
    parts = [money.charging("toolu_001"), money.charging("toolu_002", 31500, "kwd")]
    seq = say(conversation, MessageDraft(role=Role.ASSISTANT, parts=parts))
    first = money.settle(money.begin(conversation, seq, "toolu_001"), "ch_001")
    money.settle(money.begin(conversation, seq, "toolu_002"), "ch_002")
    take_refund(effect_id=first.pk, seen=refunded("re_001", charge="ch_001"), actor=money.AGENT, now=NOW)
    return first


def test_a_statement_sums_up_each_currency_by_itself(log_in, paid):
    page = log_in(RoleName.FINANCE).get(f"/accounts/{paid.account_id}/statement/?{PERIOD}")

    assert sorted((line.what, line.currency, line.minor) for line in page.context["lines"]) == [
        ("Charge", "kwd", 31500),
        ("Charge", "usd", 1900),
        ("Refund", "usd", -1000),
    ]
    assert [(each.currency, each.taken, each.given_back, each.net) for each in page.context["sums"]] == [
        ("kwd", 31500, 0, 31500),
        ("usd", 1900, -1000, 900),
    ]
    assert "−10.00" in page.content.decode()


@pytest.fixture
def given_back(paid, make_conversation, say):
    """A tool refunds ten dollars of a charge by itself."""

    def make(charge):
        conversation = make_conversation()
        registrar = User.objects.get(username="registrar")
        money.register_tool(conversation, registrar, name="refund_card", operation="refund")
        say(conversation, user())
        part = money.charging("toolu_003", 1000, name="refund_card")
        seq = say(conversation, MessageDraft(role=Role.ASSISTANT, parts=[part]))
        effect = money.begin(conversation, seq, "toolu_003")
        mark_sent(effect_id=effect.pk, now=NOW)
        hear("refund.created", {"metadata": {"counterfoil_effect": str(effect.pk)}, "charge": charge})
        return effect

    def hear(kind, facts):
        body = event(kind, refund("re_003", amount=1000, payment_intent=None, **facts), event_id="evt_1")
        taken = take_in_event(processor="stripe", body=body, now=NOW)
        assert work_event(event_id=taken.event.pk, now=NOW).trouble == ""

    return make


@pytest.mark.parametrize("charge", ["ch_001", "ch_of_another_shop"])
def test_what_a_tool_gives_back_is_one_movement_whether_its_charge_is_ours_or_not(
    log_in, paid, given_back, charge
):
    given_back(charge)

    page = log_in(RoleName.FINANCE).get(f"/accounts/{paid.account_id}/statement/?{PERIOD}")

    assert sorted((line.reference, line.minor) for line in page.context["lines"] if line.minor < 0) == [
        ("re_001", -1000),
        ("re_003", -1000),
    ]


def test_a_refund_of_a_tool_that_failed_later_moved_nothing(log_in, paid, given_back):
    effect = given_back("ch_of_another_shop")
    failed = {"outcome": EffectState.FAILED, "references": [(ReferenceKind.REFUND, "re_003")]}
    settle_effect(effect_id=effect.pk, seen=charged("re_003", **failed), actor=money.AGENT, now=NOW)

    page = log_in(RoleName.FINANCE).get(f"/accounts/{paid.account_id}/statement/?{PERIOD}")

    assert [line.reference for line in page.context["lines"] if line.minor < 0] == ["re_001"]


def test_another_period_has_other_movements(log_in, paid):
    client = log_in(RoleName.FINANCE)

    page = client.get(f"/accounts/{paid.account_id}/statement/?from=2026-01-01&to=2026-01-31")

    assert page.context["lines"] == []
    assert "No movement in this period" in page.content.decode()
    assert client.get(f"/accounts/{paid.account_id}/statement/?from=x&to=%00").status_code == 200


def test_the_csv_has_every_movement_with_a_negative_number_for_a_refund(log_in, paid):
    response = log_in(RoleName.FINANCE).get(f"/accounts/{paid.account_id}/statement/lines.csv?{PERIOD}")

    lines = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode("utf-8-sig"))))

    assert sorted((line["currency"], line["amount"]) for line in lines) == [
        ("KWD", "31.500"),
        ("USD", "-10.00"),
        ("USD", "19.00"),
    ]
    assert AccessEntry.objects.get(action="export").target_kind == "statement"


def test_who_may_not_export_has_no_csv(log_in, paid):
    support = log_in(RoleName.SUPPORT)

    assert support.get(f"/accounts/{paid.account_id}/statement/").context["csv"] == ""
    assert support.get(f"/accounts/{paid.account_id}/statement/lines.csv").status_code == 403
