"""The account itself, last of its rows, and what the API said of it; it stays while any of it is held."""

from typing import Any

from django.db import connection

from conversations.models import Account, Conversation
from ledger.models import ToolEffect
from retention.blockers import account_holds
from retention.erasure.emptying import keys_of
from retention.erasure.outcome import Outcome
from retention.erasure.patterns import byte_like_patterns
from retention.erasure.subject import Subject
from retention.locks import lock_accounts


def run(subject: Subject, after: Any) -> Outcome:
    lock_accounts(subject.account_ids)
    outcome = Outcome()
    if kept := _forget_answers(subject):
        outcome.erased["stored answer of the API"] = kept
    for account in Account.objects.filter(pk__in=subject.account_ids).order_by("pk"):
        # A second statement, after the lock.
        held = [one.words for one in account_holds(account.pk)]
        if Conversation.objects.filter(account=account).exists():
            held.append("it still has conversations")
        elif ToolEffect.objects.filter(account=account).exists():
            held.append("it still has effects")
        if held:
            outcome.kept["account"] = outcome.kept.get("account", 0) + 1
            outcome.cause = "; ".join(held)[:500]
            continue
        account.delete()
        outcome.erased["account"] = outcome.erased.get("account", 0) + 1
    return outcome


_ANSWERS = """
DELETE FROM access_storedanswer WHERE account_id = ANY(%(accounts)s::uuid[])
OR encode(body, 'escape') ILIKE ANY(%(bytes)s) OR headers::text ILIKE ANY(%(names)s)
OR idempotency_key ILIKE ANY(%(names)s)
"""


def _forget_answers(subject: Subject) -> int:
    """What the API said of them, or where it named them, for callers that ask twice: no hold is on a copy."""
    with connection.cursor() as cursor:
        cursor.execute(_ANSWERS, keys_of(subject) | {"bytes": byte_like_patterns(subject.searched_names)})
        return cursor.rowcount
