"""The admin's own log, sign-in attempts: lines stay with actor and time, names in them go."""

from typing import Any

from django.db import connection

from retention.erasure.emptying import Words, empty_all, keys_of
from retention.erasure.outcome import Outcome
from retention.erasure.subject import Subject

STORES = {
    "admin log": [
        Words(
            "django_admin_log",
            {"object_repr": "''", "change_message": "''"},
            "object_id = ANY(%(account_texts)s::text[])",
        ),
    ],
}
# Sign-ins of staff that failed: a customer's address may have been typed there.
_NAMED = """
SELECT id FROM axes_accessattempt WHERE username ILIKE ANY(%(names)s) OR get_data ILIKE ANY(%(names)s)
OR post_data ILIKE ANY(%(names)s) OR path_info ILIKE ANY(%(names)s)
"""


def run(subject: Subject, after: Any) -> Outcome:
    erased = empty_all(subject, STORES)
    with connection.cursor() as cursor:
        cursor.execute(_NAMED, keys_of(subject))
        attempts = [row[0] for row in cursor.fetchall()]
        cursor.execute(
            "DELETE FROM axes_accessattemptexpiration WHERE access_attempt_id = ANY(%s)", [attempts]
        )
        cursor.execute("DELETE FROM axes_accessattempt WHERE id = ANY(%s)", [attempts])
    if attempts:
        erased["sign-in attempts"] = len(attempts)
    return Outcome(erased=erased)
