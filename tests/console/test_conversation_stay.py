"""How long a conversation stays: its page says when it goes, or why not yet, and lets a hold be placed."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.utils.html import strip_tags

from access.rights import RoleName
from conversations.drafts import MessageDraft
from conversations.models import Conversation
from conversations.vocabulary import Role
from ledger.models import Finding
from ledger.reconciliation.desk import resolve_findings
from ledger.reconciliation.vocabulary import Resolution
from ledger.services.disputes import take_dispute
from retention.services.holds import place_hold
from tests.console import money
from tests.console.conftest import NOW
from tests.conversations.drafts import user
from tests.ledger.reconciliation.conftest import begins, charge_card, pays, register, run, staff, statement
from tests.ledger.seen import disputed

__all__ = ["begins", "charge_card", "pays", "register", "run", "staff", "statement"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def fresh(make_conversation) -> Conversation:
    """Last active a day ago: content is purged after 90 days, as shipped."""
    conversation = make_conversation(title="Lisbon")
    Conversation.objects.update(last_activity_at=datetime.now(UTC) - timedelta(days=1))
    return conversation


@pytest.fixture
def charge(fresh, say, make_staff):
    money.register_tool(fresh, make_staff(RoleName.ADMINISTRATOR, name="registrar"))
    say(fresh, user())
    called = say(fresh, MessageDraft(Role.ASSISTANT, [money.charging("toolu_1")]))
    return money.begin(fresh, called, "toolu_1")


def purge_line(client, conversation) -> str:
    page = client.get(f"/conversations/{conversation.pk}/").content.decode()
    [found] = re.findall(r"<dt>Purge</dt><dd>(.*?)</dd>", page, re.DOTALL)
    return found


def words(line: str) -> str:
    return " ".join(strip_tags(line).split())


def test_the_page_says_on_which_day_the_conversation_goes(log_in, fresh):
    goes_on = datetime.now(UTC) + timedelta(days=89)

    assert words(purge_line(log_in(), fresh)) == f"{goes_on.day} {goes_on:%b %Y}"


def test_one_that_is_due_goes_with_the_next_run(log_in, fresh):
    Conversation.objects.update(last_activity_at=NOW - timedelta(days=900))

    assert words(purge_line(log_in(), fresh)) == "with the next run"


def test_a_hold_is_named_for_who_may_see_it(log_in, fresh, make_staff):
    place_hold(conversation_id=fresh.pk, matter="M-7", user=make_staff(name="petra"), now=NOW)

    assert words(purge_line(log_in(RoleName.PRIVACY_OFFICER), fresh)) == "not while it is held (M-7)"
    assert words(purge_line(log_in(RoleName.SUPPORT), fresh)) == "not while it is held"


def test_an_open_effect_and_an_open_dispute_are_said_and_lead_there(log_in, fresh, charge):
    support = log_in(RoleName.SUPPORT)
    line = purge_line(support, fresh)

    assert words(line) == "not while an effect is open"
    assert f'href="/effects/{charge.pk}/"' in line

    money.settle(charge)
    take_dispute(effect_id=charge.pk, seen=disputed(), now=NOW)

    assert words(purge_line(support, fresh)) == "not while a dispute is open (dp_1)"


def test_an_open_finding_keeps_it_until_a_person_settles_it(log_in, run, pays, statement):
    effect = pays("ch_1")
    run(statement())
    finding = Finding.objects.get()
    conversation = Conversation.objects.get(pk=effect.conversation_id)
    support = log_in(RoleName.SUPPORT)

    line = purge_line(support, conversation)

    assert words(line) == "not while a finding is open"
    assert f'href="/findings/{finding.pk}/"' in line

    resolve_findings(
        ids=[finding.pk], resolution=Resolution.ACCEPTED, reason="known", user=User.objects.first(), now=NOW
    )

    assert "finding" not in purge_line(support, conversation)


def test_who_may_place_holds_begins_from_the_page(log_in, fresh):
    officer = log_in(RoleName.PRIVACY_OFFICER)
    address = f"/retention/holds/place/?kind=conversation&amp;target={fresh.pk}"

    page = officer.get(f"/conversations/{fresh.pk}/").content.decode()
    form = officer.get(address.replace("&amp;", "&")).context["form"]

    assert f'href="{address}"' in page
    assert (form["kind"].value(), form["target"].value()) == ("conversation", str(fresh.pk))
    assert "Place a hold" not in log_in(RoleName.SUPPORT).get(f"/conversations/{fresh.pk}/").content.decode()
