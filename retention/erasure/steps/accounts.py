"""The account itself, last of its rows. It stays while anything of it is held."""

from typing import Any

from conversations.models import Account, Conversation
from ledger.models import ToolEffect
from retention.blockers import account_holds
from retention.erasure.outcome import Outcome
from retention.erasure.subject import Subject
from retention.locks import lock_accounts


def run(subject: Subject, after: Any) -> Outcome:
    lock_accounts(subject.account_ids)
    outcome = Outcome()
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
