"""The account itself, last of its rows, and what the API said of it; it stays while any of it is held."""

from typing import Any

from access.models import StoredAnswer
from conversations.models import Account, Conversation
from ledger.models import ToolEffect
from retention.blockers import account_holds
from retention.erasure.outcome import Outcome
from retention.erasure.subject import Subject
from retention.locks import lock_accounts


def run(subject: Subject, after: Any) -> Outcome:
    lock_accounts(subject.account_ids)
    outcome = Outcome()
    # What the API said of them was kept for callers that ask twice; no hold is on a second copy.
    if kept := StoredAnswer.objects.filter(account_id__in=subject.account_ids).delete()[0]:
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
