"""An archived conversation in a real browser: read, then brought back, with nothing to complain of."""

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone
from playwright.sync_api import expect

from access.models import Realm, StaffMember
from access.services.reasons import state_reason
from conversations.models import Archive, Conversation
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message
from conversations.services.blobs import blob_storage
from conversations.services.starting import start_conversation
from retention.archiving import archive_bytes
from tests.console.browser.rules import serious
from tests.console.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, calls, results, user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = "<img src=x onerror='window.pwned = 1'>\u202eevil"


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "blobs": backend}


@pytest.fixture
def officer(transactional_db: None) -> User:
    member = User.objects.create_user("petra", is_staff=True, first_name="Petra")
    member.groups.add(Group.objects.get(name="privacy_officer"))
    StaffMember.objects.create(user=member, sees_all_realms=True)
    return member


@pytest.fixture
def archived(officer) -> Conversation:
    realm = Realm.objects.create(slug="wendelmere-eu", name="Wendelmere", created_at=NOW)
    account = ensure_account(realm=realm, external_id="cus-1001", now=NOW)
    talk = start_conversation(account_id=account.pk, now=NOW, title="Lisbon")
    for message in (
        user(f"Where is it? {HOSTILE}"),
        calls("toolu_1"),
        results("toolu_1"),
        assistant("Here."),
    ):
        append_message(conversation_id=talk.pk, message=message, actor=CUSTOMER, now=NOW)
    archive_bytes(conversation_id=talk.pk, now=NOW)
    return talk


@pytest.fixture
def opened(officer, archived):
    state_reason(user=officer, conversation_id=archived.pk, ticket="SUP-1", words="", now=timezone.now())
    return archived


def test_what_lies_in_the_archive_is_read_and_brought_back(open_page, officer, opened, complaints):
    page = open_page(f"/conversations/{opened.pk}/", user=officer)
    expect(page.get_by_text("Where is it?").first).to_be_visible()
    expect(page.get_by_text("lies in the archive since")).to_be_visible()
    assert serious(page) == []

    page.get_by_role("link", name="Bring it back").click()
    expect(page.get_by_role("heading", name="In the archive")).to_be_visible()
    assert serious(page) == []
    page.get_by_role("button", name="Bring the bytes back").click()
    expect(page.get_by_text("4 blocks have their bytes back.")).to_be_visible()

    assert page.evaluate("window.pwned") is None
    assert not Archive.objects.exists()
    assert complaints == []


def test_a_file_that_is_gone_is_said_in_words(open_page, officer, opened, complaints):
    blob_storage().delete(Archive.objects.get().storage_key)

    page = open_page(f"/conversations/{opened.pk}/", user=officer)
    expect(page.get_by_text("is in the archive, which cannot be opened").first).to_be_visible()
    page.get_by_role("link", name="Bring it back").click()
    page.get_by_role("button", name="Bring the bytes back").click()
    expect(page.get_by_text("Nothing was brought back")).to_be_visible()

    assert Archive.objects.exists()
    assert complaints == []
