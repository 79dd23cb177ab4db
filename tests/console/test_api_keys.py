"""The pages of API keys: who may make one, that its secret is seen once, and that it ends."""

import re

import pytest
from django.utils import timezone

from access.actors import Actor, ActorKind
from access.models import ApiKey, Realm, Scope
from access.models.log import AccessAction, TargetKind
from access.rights import RoleName
from access.services.keys import find_key, issue_key
from access.services.logging import log_access

pytestmark = pytest.mark.django_db

KEYS, NEW = "/api-keys/", "/api-keys/new/"
SECRET = re.compile(r"cfk_[\w-]{43}")


@pytest.fixture
def form(realm):
    return {
        "application": "shop",
        "realm": realm.pk,
        "scopes": ["read", "write"],
        "requests_per_minute": "60",
    }


@pytest.fixture
def key(realm):
    return issue(realm)


def issue(realm, **changes):
    told = {"application": "shop", "scopes": [Scope.READ], "now": timezone.now()} | changes
    return issue_key(realm=realm, actor=Actor(ActorKind.STAFF, "1"), **told).key


def test_a_key_is_made_and_its_secret_shown_once(log_in, form):
    client = log_in(RoleName.ADMINISTRATOR)

    answer = client.post(NEW, form)

    [secret] = set(SECRET.findall(answer.content.decode()))
    made = find_key(secret=secret, now=timezone.now())
    assert (made.application, made.scopes, made.requests_per_minute) == ("shop", ["read", "write"], 60)
    assert "no-store" in answer["Cache-Control"]
    for page in (KEYS, f"{KEYS}{made.pk}/"):
        shown = client.get(page).content.decode()
        assert made.hint in shown
        assert not SECRET.search(shown)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scopes": []}, "This field is required"),
        ({"scopes": ["everything"]}, "not one of the available choices"),
        ({"expires_on": "2001-01-01"}, "This day is over"),
        ({"requests_per_minute": "0"}, "greater than or equal to 1"),
        ({"application": "x\x00"}, "Null characters are not allowed"),
    ],
)
def test_a_form_that_makes_no_sense_says_where(log_in, form, change, words):
    answer = log_in(RoleName.ADMINISTRATOR).post(NEW, form | change)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not ApiKey.objects.exists()


def test_a_share_of_reads_is_asked_for_only_where_the_operator_allows_one(log_in, form, settings):
    client = log_in(RoleName.ADMINISTRATOR)
    assert "Reads in the access log, percent" not in client.get(NEW).content.decode()
    client.post(NEW, form | {"reads_logged_percent": "1"})
    assert ApiKey.objects.get().reads_logged_percent == 100

    settings.API_READS_LOGGED_PERCENT = 20
    assert "Reads in the access log, percent" in client.get(NEW).content.decode()
    below = client.post(NEW, form | {"reads_logged_percent": "19"})
    assert (below.status_code, ApiKey.objects.count()) == (422, 1)
    client.post(NEW, form | {"reads_logged_percent": "20"})
    made = ApiKey.objects.latest("pk")
    assert made.reads_logged_percent == 20
    assert "20 in 100" in client.get(f"{KEYS}{made.pk}/").content.decode()


@pytest.mark.parametrize("role", [role for role in RoleName if role != RoleName.ADMINISTRATOR])
def test_others_neither_see_nor_make_keys(log_in, form, key, role):
    client = log_in(role)
    assert client.get(KEYS).status_code == 403
    assert client.post(NEW, form).status_code == 403
    assert client.post(f"{KEYS}{key.pk}/revoke/").status_code == 403
    assert ApiKey.objects.get().revoked_at is None


def test_another_realms_keys_are_not_there(log_in, form, key):
    south = Realm.objects.create(slug="south", name="South", created_at=timezone.now())
    client = log_in(RoleName.ADMINISTRATOR, realms=[south])

    assert key.hint not in client.get(KEYS).content.decode()
    assert client.get(f"{KEYS}{key.pk}/").status_code == 404
    assert client.post(f"{KEYS}{key.pk}/exchange/", {"hours": "0"}).status_code == 404
    assert client.post(f"{KEYS}{key.pk}/revoke/").status_code == 404
    assert client.post(NEW, form).status_code == 422


def test_an_exchange_shows_the_new_secret_and_ends_the_old_key_later(log_in, key):
    client = log_in(RoleName.ADMINISTRATOR)

    answer = client.post(f"{KEYS}{key.pk}/exchange/", {"hours": "24"})

    assert SECRET.search(answer.content.decode())
    key.refresh_from_db()
    assert key.expires_at is not None
    assert "Ends soon" in client.get(f"{KEYS}{key.pk}/").content.decode()
    again = client.post(f"{KEYS}{key.pk}/exchange/", {"hours": "24"}, follow=True)
    assert "exchanged for another key already" in again.content.decode()
    assert ApiKey.objects.count() == 2


def test_a_revoked_key_says_so_and_offers_nothing_more(log_in, key):
    client = log_in(RoleName.ADMINISTRATOR)

    page = client.post(f"{KEYS}{key.pk}/revoke/", follow=True).content.decode()

    assert "Revoked" in page
    assert "Revoke it now" not in page
    assert "Make the new key" not in page


def test_a_list_of_keys_takes_a_fixed_number_of_queries(log_in, realm, django_assert_max_num_queries):
    client = log_in(RoleName.ADMINISTRATOR)
    for _ in range(60):
        issue(realm)
    with django_assert_max_num_queries(14):
        page = client.get(KEYS).content.decode()
    assert page.count("cfk_") == 50


def test_the_access_log_names_the_application_and_is_narrowed_to_it(log_in, realm, key):
    for other in (key, issue(realm, application="billing")):
        log_access(
            actor=Actor(ActorKind.APPLICATION, str(other.pk)),
            action=AccessAction.API_READ,
            target_kind=TargetKind.CONVERSATION,
            realm_id=realm.pk,
            now=timezone.now(),
        )
    page = log_in(RoleName.AUDITOR).get(f"/access-log/?key={key.pk}").content.decode()
    assert f"shop {key.hint}" in page
    assert "billing" not in page
