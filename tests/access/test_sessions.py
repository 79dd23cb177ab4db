from datetime import UTC, datetime, timedelta

import pytest

from access.models import AccessEntry
from access.sessions import SessionState, begin, is_fresh, read_state, touch
from tests.access.conftest import PASSWORD

NOW = datetime(2026, 11, 24, 14, 5, tzinfo=UTC)


@pytest.fixture(autouse=True)
def limits(settings):
    settings.SESSION_HOURS = 12
    settings.SESSION_IDLE_MINUTES = 60


def state_after(elapsed, *, session, is_verified=False):
    return read_state(session, is_verified=is_verified, now=NOW + elapsed)


def test_a_session_ends_when_nothing_was_done_for_an_hour():
    session = {}
    begin(session, now=NOW, with_factor=False)

    assert state_after(timedelta(minutes=59, seconds=59), session=session) is SessionState.GOOD
    assert state_after(timedelta(minutes=60), session=session) is SessionState.IDLE


def test_a_session_ends_at_its_age_however_busy_it_is():
    session = {}
    begin(session, now=NOW, with_factor=False)
    touch(session, now=NOW + timedelta(hours=11, minutes=50))

    assert state_after(timedelta(hours=11, minutes=59), session=session) is SessionState.GOOD
    assert state_after(timedelta(hours=12), session=session) is SessionState.TOO_OLD


def test_what_is_done_within_a_minute_does_not_write_the_session():
    session = {}
    begin(session, now=NOW, with_factor=False)
    begun = dict(session)

    touch(session, now=NOW + timedelta(seconds=59))
    assert session == begun
    touch(session, now=NOW + timedelta(seconds=60))
    assert session != begun


def test_a_session_ends_with_the_second_factor_that_began_it():
    session = {}
    begin(session, now=NOW, with_factor=True)

    assert state_after(timedelta(), session=session, is_verified=True) is SessionState.GOOD
    assert state_after(timedelta(), session=session, is_verified=False) is SessionState.FACTOR_GONE


def test_a_sign_in_is_fresh_for_ten_minutes():
    session = {}
    begin(session, now=NOW, with_factor=False)

    assert is_fresh(session, now=NOW + timedelta(minutes=9))
    assert not is_fresh(session, now=NOW + timedelta(minutes=10))
    assert not is_fresh({}, now=NOW)


def test_who_comes_back_too_late_is_told_why_and_led_back(client, make_staff):
    user = make_staff()
    client.post("/admin/login/", {"username": "maja", "password": PASSWORD})
    session = client.session
    session["access.seen_at"] -= 3600
    session.save()

    answer = client.get("/second-factor/", follow=True)

    assert answer.redirect_chain == [("/admin/login/?next=/second-factor/", 302)]
    assert "You were signed out because nothing was done for a while." in answer.content.decode()
    assert "_auth_user_id" not in client.session
    assert list(AccessEntry.objects.order_by("id").values_list("action", "actor_id")) == [
        ("sign_in", str(user.pk)),
        ("sign_out", str(user.pk)),
    ]
