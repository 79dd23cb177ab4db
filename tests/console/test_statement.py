"""The statement of an account: movements in the order of the money, sums per currency, CSV."""

import csv
import io

import pytest

from access.models import AccessEntry
from access.rights import RoleName
from conversations.drafts import MessageDraft
from conversations.vocabulary import Role
from ledger.services.refunds import take_refund
from tests.console import money
from tests.console.conftest import NOW
from tests.conversations.drafts import user
from tests.ledger.seen import refunded

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
