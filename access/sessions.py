"""How long somebody stays signed in: the limits are settings, the times stand in the session.

A session that was not begun by the sign-in page carries no times and lasts as long as Django's own.
"""

from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Final

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase

SIGNED_IN_AT: Final = "access.signed_in_at"
SEEN_AT: Final = "access.seen_at"
WITH_FACTOR: Final = "access.with_second_factor"
# The time of the last request is kept this exactly; more would write the session at each request.
_SEEN_TO: Final = timedelta(minutes=1)


class SessionState(Enum):
    GOOD = "good"
    IDLE = "idle"
    TOO_OLD = "too_old"
    FACTOR_GONE = "factor_gone"


def begin(session: SessionBase, *, now: datetime, with_factor: bool) -> None:
    """Stamp the session that a sign-in has just made."""
    session[SIGNED_IN_AT] = session[SEEN_AT] = _stamp(now)
    session[WITH_FACTOR] = with_factor


def read_state(session: SessionBase, *, is_verified: bool, now: datetime) -> SessionState:
    """Return whether the session may go on, and why not."""
    if session.get(WITH_FACTOR) and not is_verified:
        return SessionState.FACTOR_GONE
    began, seen = session.get(SIGNED_IN_AT), session.get(SEEN_AT)
    if began is not None and _stamp(now) - began >= settings.SESSION_HOURS * 3600:
        return SessionState.TOO_OLD
    if seen is not None and _stamp(now) - seen >= settings.SESSION_IDLE_MINUTES * 60:
        return SessionState.IDLE
    return SessionState.GOOD


def touch(session: SessionBase, *, now: datetime) -> None:
    """Keep that somebody is still there, to the minute."""
    seen = session.get(SEEN_AT)
    if seen is not None and _stamp(now) - seen >= _SEEN_TO.total_seconds():
        session[SEEN_AT] = _stamp(now)


def is_fresh(session: SessionBase, *, now: datetime) -> bool:
    """Tell whether the sign-in is recent enough to change how one signs in."""
    began = session.get(SIGNED_IN_AT)
    return began is not None and _stamp(now) - began < settings.FRESH_SIGN_IN_MINUTES * 60


def _stamp(moment: datetime) -> int:
    return int(moment.astimezone(UTC).timestamp())
