"""The switch of redaction for an account, its cuts, and reports of false hits."""

import pytest
from django.contrib.auth.models import User

from access.models import AccessEntry
from access.rights import RoleName
from conversations.models import MessagePart, RedactionSpan, RedactionSwitch
from conversations.services.accounts import ensure_account
from retention.services.holds import place_hold
from tests.console.conftest import NOW
from tests.conversations.drafts import user

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
    other = ensure_account(realm=realm, external_id="somebody-else", now=NOW)

    assert officer.post(f"/accounts/{other.pk}/redaction/{span.pk}/false/").status_code == 404
    span.refresh_from_db()
    assert span.reported_false_at is None


def test_who_may_not_set_it(log_in, account):
    client = log_in(RoleName.AUDITOR)

    assert client.post(f"/accounts/{account.pk}/redaction/", {"kinds": ["card"]}).status_code == 403
    assert not RedactionSwitch.objects.exists()


REDACTIONS = "/retention/redaction/"


class TestTheWholeRealm:
    def test_the_switch_of_a_realm_is_set_shown_and_logged(self, officer, realm):
        officer.post(f"{REDACTIONS}{realm.slug}/", {"kinds": ["card"]})

        switch = RedactionSwitch.objects.get()
        assert (switch.realm_id, switch.account_id, switch.kinds) == (realm.pk, None, ["card"])
        assert AccessEntry.objects.get(action="change").realm_id == realm.pk
        page = officer.get(REDACTIONS).content.decode()
        assert "card number" in page
        assert realm.name in page

    def test_another_realm_is_not_there(self, log_in, realm):
        client = log_in(RoleName.PRIVACY_OFFICER, realms=[])

        assert client.post(f"{REDACTIONS}{realm.slug}/", {"kinds": ["card"]}).status_code == 404
        assert realm.name not in client.get(REDACTIONS).content.decode()
        assert not RedactionSwitch.objects.exists()

    def test_an_account_that_says_something_else_is_listed(self, officer, account):
        officer.post(f"/accounts/{account.pk}/redaction/", {"kinds": ["iban"]})

        assert account.external_id in officer.get(REDACTIONS).content.decode()

    def test_samples_are_tried_and_not_kept(self, officer):
        page = officer.post(REDACTIONS, {"samples": "pay 4242424242424242\norder 1042"}).content.decode()

        assert "pay [cut: card number]" in page
        assert "order 1042" in page
        assert not RedactionSpan.objects.exists()

    def test_reported_false_hits_are_listed(self, officer, account, span):
        officer.post(f"/accounts/{account.pk}/redaction/{span.pk}/false/")

        page = officer.get(REDACTIONS).content.decode()

        assert str(span.conversation_id) in page

    def test_the_page_asks_as_often_with_more_rows(self, officer, realm, django_assert_max_num_queries):
        with django_assert_max_num_queries(40) as few:
            officer.get(REDACTIONS)
        for number in range(5):
            other = ensure_account(realm=realm, external_id=f"more-{number}", now=NOW)
            RedactionSwitch.objects.create(realm=realm, account=other, kinds=["card"], set_at=NOW)
        with django_assert_max_num_queries(40) as many:
            officer.get(REDACTIONS)

        assert len(many) == len(few)

    @pytest.mark.parametrize("role", [RoleName.SUPPORT, RoleName.AUDITOR])
    def test_who_may_not_set_it(self, log_in, realm, role):
        assert log_in(role).post(f"{REDACTIONS}{realm.slug}/", {"kinds": ["card"]}).status_code == 403


class TestWhatIsStored:
    """Cutting on demand: counted first, then cut."""

    @pytest.fixture
    def said(self, make_conversation, say):
        conversation = make_conversation()
        say(conversation, user("my card 4242424242424242"))
        return conversation

    def test_it_is_counted_and_nothing_is_changed(self, officer, said):
        page = officer.post(f"/conversations/{said.pk}/redact/", {"kinds": ["card"]}).content.decode()

        assert "Cut 1 secret for good" in page
        assert MessagePart.objects.get().text == "my card 4242424242424242"

    def test_confirmed_it_is_cut_and_logged(self, officer, said):
        officer.post(f"/conversations/{said.pk}/redact/", {"kinds": ["card"], "confirm": "yes"})

        assert MessagePart.objects.get().text == "my card [cut: card number]"
        line = AccessEntry.objects.get(action="change")
        assert (line.conversation_id, line.address) == (said.pk, "127.0.0.1")

    def test_what_is_held_stays_and_the_page_says_why(self, officer, said):
        place_hold(conversation_id=said.pk, matter="M-7", user=User.objects.get(), now=NOW)

        answer = officer.post(f"/conversations/{said.pk}/redact/", {"kinds": ["card"], "confirm": "yes"})

        assert answer.status_code == 422
        assert "Held: M-7" in answer.content.decode()
        assert MessagePart.objects.get().text == "my card 4242424242424242"

    def test_who_may_not_cut(self, log_in, said):
        client = log_in(RoleName.AUDITOR)

        answer = client.post(f"/conversations/{said.pk}/redact/", {"kinds": ["card"], "confirm": "yes"})

        assert answer.status_code == 403

    def test_another_realms_conversation_is_not_there(self, log_in, said):
        client = log_in(RoleName.PRIVACY_OFFICER, realms=[])

        assert client.get(f"/conversations/{said.pk}/redact/").status_code == 404
