"""Money rows stay, for the books: detached from their calls, and a pseudonym in place of the person."""

from typing import Any

from django.db import connection

from retention.erasure.outcome import Outcome
from retention.erasure.subject import Subject
from retention.locks import lock_accounts

GROUND = "Bookkeeping: amounts and references stay, without the person"
_EFFECTS = """
UPDATE ledger_tooleffect SET account_id = NULL, account_pseudonym = %(pseudonym)s
WHERE account_id = ANY(%(accounts)s::uuid[]) AND call_seq IS NULL
AND retention_hold_on(conversation_id, account_id) IS NULL
"""
_LEFT = "SELECT count(*) FROM ledger_tooleffect WHERE account_id = ANY(%(accounts)s::uuid[])"
_FINDINGS = """
UPDATE ledger_finding SET account_id = NULL WHERE account_id = ANY(%(accounts)s::uuid[]) AND state <> 'open'
"""


def run(subject: Subject, after: Any) -> Outcome:
    # A hold that is placed now waits, and finds the account; one that came before is seen below.
    lock_accounts(subject.account_ids)
    keys: dict[str, Any] = {"accounts": subject.account_ids, "pseudonym": subject.request.pseudonym}
    with connection.cursor() as cursor:
        cursor.execute(_EFFECTS, keys)
        outcome = Outcome(pseudonymised={"effects": cursor.rowcount} if cursor.rowcount else {})
        cursor.execute(_FINDINGS, keys)
        if cursor.rowcount:
            outcome.pseudonymised["findings"] = cursor.rowcount
        cursor.execute(_LEFT, keys)
        left = cursor.fetchone()[0]
    if left:
        outcome.kept = {"effects": left}
        outcome.cause = f"{left} effects belong to conversations that are held or open"
    return outcome
