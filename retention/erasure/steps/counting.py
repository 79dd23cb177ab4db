"""Counting again: by every key that led to the person, nothing is found in any table any more."""

from typing import Any

from django.db import connection

from conversations.models import Account
from retention.erasure.outcome import Outcome
from retention.erasure.subject import Subject

# Ids without a person behind them: these stay by design and say nothing once the account is gone.
_STAY = frozenset(
    {
        "access_accessentry",
        "access_statedreason",
        "retention_erasureaccount",
        "retention_generationrollup",
        "retention_legalhold",
        "retention_retentionpolicy",
        "retention_toolrollup",
    }
)

_NAMES_ACCOUNTS = """
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname = 'account_id'
AND a.atttypid = 'uuid'::regtype AND NOT a.attisdropped ORDER BY 1
"""


def run(subject: Subject, after: Any) -> Outcome:
    left = {table: number for table, number in counted(subject).items() if number}
    if not left:
        return Outcome()
    places = ", ".join(f"{table} {number}" for table, number in sorted(left.items()))
    return Outcome(kept=left, cause=f"counted again: {places}"[:500])


def counted(subject: Subject) -> dict[str, int]:
    """Count rows by the account in every table that names accounts."""
    accounts = Account.objects.filter(pk__in=subject.account_ids)
    counts = {"conversations_account": accounts.count()}
    with connection.cursor() as cursor:
        cursor.execute(_NAMES_ACCOUNTS)
        tables = [row[0] for row in cursor.fetchall() if row[0] not in _STAY]
        for table in tables:
            cursor.execute(f"SELECT count(*) FROM {table} WHERE account_id = ANY(%s)", [subject.account_ids])
            counts[table] = int(cursor.fetchone()[0])
    return counts
