"""The switch of redaction for an account, its cuts, and reports of false hits."""

import pytest

from access.models import AccessEntry
from access.rights import RoleName
from conversations.models import RedactionSpan, RedactionSwitch
from tests.console.conftest import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def officer(log_in):
    return log_in(RoleName.PRIVACY_OFFICER)


@pytest.fixture
def span(make_conversation):
    return RedactionSpan.objects.create(
        conversation=make_conversation(), number=1, side="request", kind="card", start=3, end=21, cut_at=NOW
    )


def test_the_switch_is_set_and_logged(officer, account):
    officer.post(f"/accounts/{account.pk}/redaction/", {"kinds": ["card", "iban"]})

    assert RedactionSwitch.objects.get(account=account).kinds == ["card", "iban"]
    assert AccessEntry.objects.get(action="change").account_id == account.pk


def test_what_is_no_secret_is_refused(officer, account):
    officer.post(f"/accounts/{account.pk}/redaction/", {"kinds": ["photograph"]})

    assert not RedactionSwitch.objects.exists()


def test_a_cut_is_shown_by_kind_and_place_and_reported_as_false(officer, account, span):
    page = officer.get(f"/accounts/{account.pk}/redaction/").content.decode()
    assert "request of attempt 1".lower() in page.lower()

    officer.post(f"/accounts/{account.pk}/redaction/{span.pk}/false/")

    span.refresh_from_db()
    assert span.reported_false_by.username == "privacy_officer"


def test_a_cut_of_another_account_is_not_reported_here(officer, span, realm):
    from conversations.services.accounts import ensure_account

    other = ensure_account(realm=realm, external_id="somebody-else", now=NOW)

    assert officer.post(f"/accounts/{other.pk}/redaction/{span.pk}/false/").status_code == 404
    span.refresh_from_db()
    assert span.reported_false_at is None


def test_who_may_not_set_it(log_in, account):
    client = log_in(RoleName.AUDITOR)

    assert client.post(f"/accounts/{account.pk}/redaction/", {"kinds": ["card"]}).status_code == 403
    assert not RedactionSwitch.objects.exists()
