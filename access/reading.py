"""Reading customers' rows as `counterfoil_read`, limited by the database to the realms of whoever looks.

    with reading_as(reach_of(user)):
        ...

Inside, each statement on the default connection runs as that role, under row security: a
condition that a page forgets shows nothing instead of another realm. Nothing can be written; what
has to be (the access log) steps out with `as_application`. Role and realms are set with SET LOCAL,
so the end of the transaction ends them, whoever has the connection next.

Rows that are read after the view has returned (a streamed export) are read in a transaction of
their own: `reading_rows`.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

from django.db import connection, transaction
from django.http import HttpRequest, HttpResponseBase
from psycopg.pq import TransactionStatus

from access.permissions import DECLARED_RIGHTS, View, staff_of
from access.reach import Reach, reach_of

READER: Final = "counterfoil_read"
_MAY_BECOME_READER: Final = """
SELECT coalesce(
    (SELECT pg_has_role(session_user, oid, 'MEMBER') FROM pg_roles WHERE rolname = %s), false
)
"""


@contextmanager
def reading_as(reach: Reach) -> Iterator[None]:
    """Read within `reach` alone, in one transaction.

    Where the roles are one (no reader, or one that the application may not become), the console's
    own conditions are all that limits.
    """
    if not _may_become_reader():
        yield
        return
    before, is_outermost = _here.standing, not connection.in_atomic_block
    try:
        with transaction.atomic():
            _stand(READER, "*" if reach.sees_all else ",".join(map(str, sorted(reach.realm_ids))))
            yield
            # The end of the transaction forgets it; one further out goes on as what it was. After
            # an error the savepoint does that.
            if not is_outermost:
                _stand(*before)
    finally:
        _here.standing = before


@contextmanager
def as_application() -> Iterator[None]:
    """Step out of a reading for what has to be written or is not a customer's; else change nothing."""
    if not is_reading():
        yield
        return
    before = _here.standing
    _stand("none", "")
    try:
        yield
    finally:
        _here.standing = before
        # In a transaction that failed nothing can be set, and its end forgets what was.
        if connection.connection.info.transaction_status is TransactionStatus.INTRANS:
            _stand(*before)


def reading_rows[Row](reach: Reach, rows: Callable[[], Iterator[Row]]) -> Iterator[Row]:
    """Yield rows within `reach`, in a transaction that lasts until the last is taken or nobody asks on."""
    with reading_as(reach):
        yield from rows()


def reads_customers(view: View) -> View:
    """Let the whole of a view read within the reach of whoever asks; it stands below `requires`."""

    @wraps(view)
    def limited(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with reading_as(reach_of(staff_of(request))):
            return view(request, *args, **kwargs)

    setattr(limited, DECLARED_RIGHTS, getattr(view, DECLARED_RIGHTS, frozenset()))
    return limited


def is_reading() -> bool:
    """Tell whether this thread stands within a reading now."""
    return _here.standing[0] == READER


class _Here(threading.local):
    """How the default connection of this thread stands: its role, and the realms that it names."""

    standing: tuple[str, str] = ("none", "")
    may_become_reader: dict[str, bool]

    def __init__(self) -> None:
        self.may_become_reader = {}


_here: Final = _Here()


def _stand(role: str, realms: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('role', %s, true), set_config('counterfoil.realms', %s, true)", [role, realms]
        )
    _here.standing = (role, realms)


def _may_become_reader() -> bool:
    """Asked once per thread and database: what roles may does not change while a process runs."""
    name = str(connection.settings_dict["NAME"])
    if name not in _here.may_become_reader:
        with connection.cursor() as cursor:
            cursor.execute(_MAY_BECOME_READER, [READER])
            _here.may_become_reader[name] = cursor.fetchone()[0]
    return _here.may_become_reader[name]
