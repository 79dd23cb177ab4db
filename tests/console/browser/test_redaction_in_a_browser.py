"""Redaction in a real browser: set for a realm, tried on samples, cut on demand; nothing to complain of."""

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import expect

from access.models import Realm, StaffMember
from conversations.models import Conversation, MessagePart, RedactionSwitch
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message
from conversations.services.starting import start_conversation
from tests.console.browser.rules import serious
from tests.console.conftest import CUSTOMER, NOW
from tests.conversations.drafts import user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = "<img src=x onerror='window.pwned = 1'>\u202eevil"
CARD = "4242 4242 4242 4242"


@pytest.fixture
def officer(transactional_db: None) -> User:
    member = User.objects.create_user("petra", is_staff=True, first_name="Petra")
    member.groups.add(Group.objects.get(name="privacy_officer"))
    StaffMember.objects.create(user=member, sees_all_realms=True)
    return member


@pytest.fixture
def talk(transactional_db: None) -> Conversation:
    realm = Realm.objects.create(slug="wendelmere-eu", name="Wendelmere", created_at=NOW)
    account = ensure_account(realm=realm, external_id="cus-1001", now=NOW)
    talk = start_conversation(account_id=account.pk, now=NOW, title="Lisbon")
    append_message(conversation_id=talk.pk, message=user(f"my card {CARD}"), actor=CUSTOMER, now=NOW)
    return talk


def test_a_realm_is_set_and_samples_are_tried(open_page, officer, talk, complaints):
    page = open_page("/retention/redaction/", user=officer)
    assert serious(page) == []
    page.get_by_role("link", name="Set for Wendelmere").click()
    page.get_by_label("card number").check()
    assert serious(page) == []
    page.get_by_role("button", name="Cut these from now on").click()
    expect(page.get_by_role("cell", name="card number")).to_be_visible()

    page.get_by_label("Samples").fill(f"pay with {CARD}\n{HOSTILE}")
    page.get_by_role("button", name="Show what would be cut").click()
    expect(page.get_by_text("pay with [cut: card number]")).to_be_visible()

    assert serious(page) == []
    assert page.evaluate("window.pwned") is None
    assert RedactionSwitch.objects.get().kinds == ["card"]
    assert complaints == []


def test_what_is_stored_is_counted_and_then_cut(open_page, officer, talk, complaints):
    page = open_page(f"/conversations/{talk.pk}/retention/", user=officer)
    page.get_by_role("link", name="Cut secrets out of it").click()
    page.get_by_label("card number").check()
    page.get_by_role("button", name="Show what will be cut").click()
    expect(page.get_by_text("Nothing is changed yet.")).to_be_visible()
    assert serious(page) == []
    page.get_by_role("button", name="Cut 1 secret for good").click()
    expect(page.get_by_text("Cut for good: 1 in 1 blocks.")).to_be_visible()

    assert MessagePart.objects.get().text == "my card [cut: card number]"
    assert complaints == []
