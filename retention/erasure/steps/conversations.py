"""Conversations with all that is theirs, a page at a time: locked, asked, deleted. What is held stays."""

from typing import Any

from retention.blockers import blockers_of
from retention.erasure.outcome import Outcome
from retention.erasure.subject import Subject
from retention.locks import lock_accounts, lock_conversations
from retention.purging.deleting import delete_conversations

PAGE = 100


def run(subject: Subject, after: Any) -> Outcome:
    later = [pk for pk in subject.conversation_ids if str(pk) > (after or "")]
    page = later[:PAGE]
    if not page:
        return Outcome()
    lock_accounts(subject.account_ids)
    locked = lock_conversations(page, waits=True)
    # A second statement: a hold placed before we had the lock is visible only from here on.
    blocked = blockers_of(locked)
    free = [pk for pk in locked if pk not in blocked]
    outcome = Outcome(after=str(page[-1]) if len(later) > PAGE else None)
    outcome.erased = delete_conversations(ids=free, now=subject.now, run_id=subject.run_id)
    detached = outcome.erased.pop("effects_detached", 0)
    if detached:
        outcome.pseudonymised["effects detached"] = detached
    if blocked:
        outcome.kept = {"conversation": len(blocked)}
        reasons = sorted({one.words for several in blocked.values() for one in several})
        outcome.cause = "; ".join(reasons)[:500]
    return outcome
