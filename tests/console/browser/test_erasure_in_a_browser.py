"""The erasure desk in a real browser: from intake to receipt by two people, with nothing to complain of."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import Page, expect

from access.models import Realm, StaffMember
from conversations.models import Account, Conversation
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message
from conversations.services.starting import start_conversation
from jobs.models import JobRun
from retention.erasure.job import erase
from retention.models import ErasureRequest
from tests.console.browser.rules import serious
from tests.console.conftest import CUSTOMER, NOW
from tests.conversations.drafts import user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = "<img src=x onerror='window.pwned = 1'>\u202eevil"
DESK = "/retention/erasures/"


@pytest.fixture
def officer(transactional_db: None) -> Callable[[str], User]:
    def make(name: str) -> User:
        member = User.objects.create_user(name, is_staff=True, first_name=name.capitalize())
        member.groups.add(Group.objects.get(name="privacy_officer"))
        StaffMember.objects.create(user=member, sees_all_realms=True)
        return member

    return make


@pytest.fixture
def person(transactional_db: None) -> Account:
    realm = Realm.objects.create(slug="wendelmere-eu", name="Wendelmere", created_at=NOW)
    account = ensure_account(
        realm=realm, external_id="cus-1001", label=HOSTILE, email="ines@example.com", now=NOW
    )
    talk = start_conversation(account_id=account.pk, now=NOW, title=f"Lisbon {HOSTILE}")
    append_message(conversation_id=talk.pk, message=user("Where is my order?"), actor=CUSTOMER, now=NOW)
    return account


def take_in(page: Page) -> None:
    page.get_by_label("E-mail address, customer's id or account id").fill("ines@example.com")
    page.get_by_label("Realm").select_option(label="Wendelmere")
    page.get_by_role("button", name="Find the person").click()
    page.get_by_label("cus-1001").check()
    page.get_by_role("button", name="Take the request in").click()
    page.get_by_label("Checked by").select_option(label="Showed a document")
    page.get_by_role("button", name="Identity is checked").click()
    page.get_by_role("button", name="Count what will go").click()


def test_two_people_erase_a_person_and_print_the_receipt(open_page, officer, person, complaints):
    first = open_page(f"{DESK}intake/", user=officer("petra"))
    assert serious(first) == []
    take_in(first)
    expect(first.get_by_text("Another person has to approve it")).to_be_visible()
    assert serious(first) == []

    request = ErasureRequest.objects.get()
    second = open_page(f"{DESK}{request.pk}/", user=officer("quentin"))
    second.get_by_role("button", name="Approve and erase").click()
    expect(second.get_by_role("heading", name="Execution")).to_be_visible()
    erase(run_id=JobRun.objects.get(kind="retention.erase").pk)
    second.reload()
    expect(second.get_by_text("Names are gone; digests stay.")).to_be_visible()
    assert serious(second) == []
    second.get_by_role("link", name="Receipt").click()
    expect(second.get_by_text("no one can be recognised from it")).to_be_visible()

    assert serious(second) == []
    assert second.evaluate("window.pwned") is None
    assert not Conversation.objects.exists()
    assert complaints == []


@pytest.mark.parametrize(
    "path", [DESK, "/retention/holds/", "/retention/policies/", "/retention/policies/change/"]
)
@pytest.mark.parametrize("width", [1280, 390])
def test_each_page_fits_its_window(open_page, officer, person, complaints, path, width):
    page = open_page(path, user=officer("petra"), width=width)

    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert serious(page) == []
    assert complaints == []
