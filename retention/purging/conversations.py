"""Whole conversations, by the time of their last activity or the closing of their account."""

from retention.purging.deleting import delete_conversations
from retention.purging.due import due_conversations, free_of
from retention.purging.step import Ask, Taken
from retention.vocabulary import DataClass, PolicyAction


def take(ask: Ask) -> Taken:
    candidates, after = due_conversations(ask, data_class=DataClass.CONVERSATION, action=PolicyAction.PURGE)
    taken = Taken(after)
    free = free_of(candidates, taken=taken, takes_rows=True)
    taken.count_all(delete_conversations(ids=free, now=ask.now, run_id=ask.run_id))
    taken.count("gone", len(free))
    return taken
