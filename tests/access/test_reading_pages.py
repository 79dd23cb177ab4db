"""Pages whose own conditions are taken away: what is left is what the database lets the reader see."""

import pytest
from django.db.models import Q
from django.urls import reverse

from access.models import Realm
from access.reach import Reach
from console.search.texts import Narrowed
from conversations.search.words import Within
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message
from conversations.services.starting import start_conversation
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import user

pytestmark = pytest.mark.django_db


@pytest.fixture
def eu():
    return Realm.objects.create(slug="eu", name="Europe", created_at=NOW)


@pytest.fixture
def us():
    return Realm.objects.create(slug="us", name="America", created_at=NOW)


@pytest.fixture
def told(eu, us):
    """One conversation in each realm, of the same customer's id."""
    made = {}
    for realm in (eu, us):
        account = ensure_account(realm=realm, external_id=f"customer-{realm.slug}", now=NOW)
        made[realm.slug] = start_conversation(account_id=account.pk, title=f"hotel in {realm.slug}", now=NOW)
        append_message(
            conversation_id=made[realm.slug].pk, message=user("a hotel with a view"), actor=CUSTOMER, now=NOW
        )
    return made


@pytest.fixture
def forgetful(monkeypatch):
    """As if every page had forgotten to ask for the realm."""
    monkeypatch.setattr(Reach, "within", lambda reach, path: Q())


@pytest.fixture
def officer(client, make_staff, eu):
    client.force_login(make_staff(role="privacy_officer", realms=(eu,)))
    return client


@pytest.mark.usefixtures("told", "forgetful")
def test_a_list_that_forgets_the_realm_shows_no_other(officer):
    page = officer.get(reverse("console:conversations")).content.decode()

    assert "hotel in eu" in page
    assert "hotel in us" not in page


@pytest.mark.usefixtures("told", "forgetful")
def test_an_export_that_forgets_the_realm_streams_no_other(officer):
    answer = officer.get(reverse("console:conversations-csv"))
    lines = b"".join(answer.streaming_content).decode()

    assert "customer-eu" in lines
    assert "customer-us" not in lines


@pytest.mark.usefixtures("told", "forgetful")
def test_the_accounts_of_another_realm_are_not_listed(officer):
    page = officer.get(reverse("console:accounts")).content.decode()

    assert "customer-eu" in page
    assert "customer-us" not in page


def test_words_of_another_realm_are_not_found(officer, told, monkeypatch):
    everywhere = Narrowed(Within(realm_ids=None))
    monkeypatch.setattr("console.views.search.narrow", lambda **given: everywhere)

    page = officer.get(reverse("console:search"), {"q": "hotel view", "in": "texts"}).content.decode()

    assert str(told["eu"].pk) in page
    assert str(told["us"].pk) not in page


def test_a_conversation_of_another_realm_is_refused_and_one_that_is_not_there_is_not_found(officer, told):
    assert officer.get(reverse("console:conversation", args=[told["eu"].pk])).status_code == 200
    assert officer.get(reverse("console:conversation", args=[told["us"].pk])).status_code == 403
    nowhere = "0193a1b2-0000-7000-8000-00000000ffff"
    assert officer.get(reverse("console:conversation", args=[nowhere])).status_code == 404


def test_who_sees_every_realm_still_does(client, make_staff, told):
    client.force_login(make_staff(role="privacy_officer"))

    page = client.get(reverse("console:conversations")).content.decode()

    assert "hotel in eu" in page
    assert "hotel in us" in page
