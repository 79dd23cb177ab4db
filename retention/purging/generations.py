"""The detail of attempts: sealed into totals, then deleted; the conversation stays readable.

What asks for an exact body, or which attempt made a call, is answered by "purged" from then on.
"""

from django.db import connection

from retention.purging.due import due_conversations, free_of
from retention.purging.sealing import seal_generations
from retention.purging.step import Ask, Taken
from retention.vocabulary import DataClass, PolicyAction

_ENDED = "status NOT IN ('queued', 'streaming')"
_HAS_SOME = (
    f"AND EXISTS (SELECT FROM conversations_generation g WHERE g.conversation_id = c.id AND g.{_ENDED})"
)


def take(ask: Ask) -> Taken:
    candidates, after = due_conversations(
        ask, data_class=DataClass.GENERATION_DETAIL, action=PolicyAction.PURGE, having=_HAS_SOME
    )
    taken = Taken(after)
    free = free_of(candidates, taken=taken, takes_rows=False)
    if not free:
        return taken
    taken.count("sealed", seal_generations(conversation_ids=free, now=ask.now, run_id=ask.run_id))
    with connection.cursor() as cursor:
        cursor.execute(
            f"DELETE FROM conversations_generation WHERE conversation_id = ANY(%s) AND {_ENDED}", [free]
        )
        taken.count("generation", cursor.rowcount)
    taken.count("gone", len(free))
    return taken
