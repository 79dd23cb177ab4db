"""Keys: hashed at rest, one realm, scopes, expiry, rotation, last use, revocation."""

import hashlib
from datetime import timedelta

import pytest
from django.core.cache import caches
from django.core.cache.backends.redis import RedisCache
from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.test import APIClient
from structlog.testing import capture_logs

from access.api.throttling import KeyThrottle
from access.models import AccessEntry, ApiKey, Scope
from access.models.log import AccessAction, TargetKind
from access.services.keys import KeyEndedError, find_key, note_use, revoke_key, rotate_key

from .conftest import STAFF

ADDRESS = "/api/v1/key"


def test_a_key_says_what_it_may_do(client):
    answer = client.get(ADDRESS)
    assert answer.status_code == 200
    assert answer.json()["application"] == "shop"
    assert answer.json()["realm"] == "north"
    assert sorted(answer.json()["scopes"]) == sorted(Scope.values)


def test_the_secret_stands_nowhere(issue):
    issued = issue()
    row = ApiKey.objects.values().get(pk=issued.key.pk)
    assert bytes(row["secret_digest"]) == hashlib.sha256(issued.secret.encode()).digest()
    assert all(issued.secret not in str(value) for value in row.values())
    assert issued.secret.startswith(row["hint"])
    assert len(row["hint"]) == 10
    assert issued.secret not in repr(issued)


@pytest.mark.parametrize(
    "header",
    ["Bearer cfk_unknown", "Bearer", "Basic abc", "Bearer a b", "Bearer clé", "cfk_x", "bearer toolu_1"],
)
def test_what_opens_nothing_is_refused_as_a_problem(db, header):
    answer = APIClient().get(ADDRESS, HTTP_AUTHORIZATION=header)
    assert answer.status_code == 401
    assert answer["Content-Type"] == "application/problem+json"
    assert answer["WWW-Authenticate"] == 'Bearer realm="api"'
    assert answer.json()["type"].startswith("urn:counterfoil:problem:")


def test_without_a_key_nothing_is_told(db):
    assert APIClient().get(ADDRESS).status_code == 401


def test_a_session_of_staff_does_not_open_the_api(db, django_user_model):
    client = APIClient()
    client.force_login(django_user_model.objects.create_superuser("root", "root@example.com", "x" * 20))
    assert client.get(ADDRESS).status_code == 401


def test_an_expired_and_a_revoked_key_open_nothing(issue, client_of):
    now = timezone.now()
    expired = issue(now=now - timedelta(days=2), expires_at=now - timedelta(days=1))
    revoked = issue()
    revoke_key(key_id=revoked.key.pk, actor=STAFF, now=now)
    assert client_of(expired).get(ADDRESS).status_code == 401
    assert client_of(revoked).get(ADDRESS).status_code == 401
    with pytest.raises(KeyEndedError, match="revoked"):
        revoke_key(key_id=revoked.key.pk, actor=STAFF, now=now)
    with pytest.raises(KeyEndedError, match="expired"):
        rotate_key(key_id=expired.key.pk, overlap=timedelta(0), actor=STAFF, now=now)


def test_rotation_makes_a_new_key_and_lets_the_old_one_end_later(issue):
    old, now = issue(scopes=[Scope.READ], expires_at=None), timezone.now()
    new = rotate_key(key_id=old.key.pk, overlap=timedelta(hours=1), actor=STAFF, now=now)

    assert new.key.scopes == ["read"]
    assert new.key.replaces_id == old.key.pk
    in_time, too_late = now + timedelta(minutes=59), now + timedelta(minutes=61)
    assert find_key(secret=old.secret, now=in_time) == old.key
    assert find_key(secret=old.secret, now=too_late) is None
    assert find_key(secret=new.secret, now=too_late) == new.key
    with pytest.raises(KeyEndedError, match="exchanged"):
        rotate_key(key_id=old.key.pk, overlap=timedelta(hours=1), actor=STAFF, now=now)


def test_a_key_that_ends_is_exchanged_for_one_that_lasts_as_long(issue):
    now = timezone.now()
    made = now - timedelta(days=80)
    old = issue(now=made, expires_at=made + timedelta(days=90))

    new = rotate_key(key_id=old.key.pk, overlap=timedelta(hours=1), actor=STAFF, now=now)

    assert new.key.expires_at == now + timedelta(days=90)


def test_rotation_at_once_ends_a_key_made_in_the_same_moment(issue):
    now = timezone.now()
    old = issue(now=now, expires_at=None)
    rotate_key(key_id=old.key.pk, overlap=timedelta(0), actor=STAFF, now=now)
    assert find_key(secret=old.secret, now=now + timedelta(milliseconds=1)) is None


def test_each_change_of_a_key_is_in_the_access_log(issue):
    issued, now = issue(), timezone.now()
    new = rotate_key(key_id=issued.key.pk, overlap=timedelta(hours=1), actor=STAFF, now=now)
    revoke_key(key_id=new.key.pk, actor=STAFF, now=now)
    entries = AccessEntry.objects.filter(target_kind=TargetKind.KEY).order_by("id")
    assert [(entry.action, entry.target_id) for entry in entries] == [
        (AccessAction.CHANGE, str(issued.key.pk)),
        (AccessAction.CHANGE, str(new.key.pk)),
        (AccessAction.CHANGE, str(issued.key.pk)),
        (AccessAction.CHANGE, str(new.key.pk)),
    ]


def test_last_use_is_noted_once_a_minute(issue, django_assert_num_queries):
    key, now = issue().key, timezone.now()
    note_use(key=key, now=now)
    key.refresh_from_db()
    assert key.last_used_at == now
    with django_assert_num_queries(0):
        note_use(key=key, now=now + timedelta(seconds=59))
    note_use(key=key, now=now + timedelta(seconds=61))
    key.refresh_from_db()
    assert key.last_used_at == now + timedelta(seconds=61)


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"scopes": ["everything"]}, "scopes_are_known"),
        ({"scopes": []}, "scopes_are_known"),
        ({"requests_per_minute": 0}, "rate_is_positive"),
        ({"reads_logged_percent": 0}, "some_reads_are_logged"),
        ({"reads_logged_percent": 101}, "some_reads_are_logged"),
        ({"expires_at": timezone.now() - timedelta(days=1)}, "expires_after_it_was_made"),
    ],
)
def test_the_database_refuses_a_key_that_makes_no_sense(issue, changes, constraint):
    with pytest.raises(IntegrityError, match=f"access_apikey_{constraint}"), transaction.atomic():
        issue(**changes)


def test_a_key_has_so_many_requests_a_minute(issue, client_of):
    client = client_of(issue(requests_per_minute=2))
    assert [client.get(ADDRESS).status_code for _ in range(3)] == [200, 200, 429]
    answer = client.get(ADDRESS)
    assert 1 <= int(answer["Retry-After"]) <= 60
    assert answer.json()["rule"] == "too-many-requests"
    assert client_of(issue()).get(ADDRESS).status_code == 200


def test_requests_go_on_while_the_cache_is_away(issue, client_of, monkeypatch):
    nowhere = RedisCache("redis://127.0.0.1:9/0", {"OPTIONS": {"socket_connect_timeout": 1}})
    monkeypatch.setattr(KeyThrottle, "cache", nowhere)
    monkeypatch.setattr(KeyThrottle, "asks_again_at", 0.0)
    client = client_of(issue(requests_per_minute=1))
    with capture_logs() as lines:
        assert [client.get(ADDRESS).status_code for _ in range(3)] == [200, 200, 200]
    assert [(line["event"], line["error"]) for line in lines] == [("requests_not_counted", "ConnectionError")]
    # It is back.
    monkeypatch.setattr(KeyThrottle, "cache", caches["default"])
    monkeypatch.setattr(KeyThrottle, "asks_again_at", 0.0)
    assert [client.get(ADDRESS).status_code for _ in range(2)] == [200, 429]
