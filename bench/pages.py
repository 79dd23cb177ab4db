"""The page of one conversation on the server: workload W's, and the first screen of 5,000 messages.

Each with the texts open to the reader, and without.
"""

import sys
from uuid import UUID

from bench import corpus, large, staff

MOST_MILLISECONDS = 40.0
MOST_MILLISECONDS_LONG = 150.0
CONVERSATIONS = 10
LONG_NUMBER = 7_000_000
LONG_TURNS = 1_250


def main(arguments: list[str]) -> int:
    from django.urls import reverse

    there = large.ensure(large.wanted(arguments))
    long = corpus.conversation_id(LONG_NUMBER)
    _tell_long(long)
    usual = [corpus.conversation_id(number) for number in range(CONVERSATIONS)]
    opened = [corpus.conversation_id(number) for number in range(CONVERSATIONS, 2 * CONVERSATIONS)]
    ways: dict[str, tuple[list[UUID], float]] = {
        "page, texts withheld": (usual, MOST_MILLISECONDS),
        "page, texts open": (opened, MOST_MILLISECONDS),
        "page of 5,000 messages": ([long], MOST_MILLISECONDS_LONG),
    }
    for conversation_id in [*opened, long]:
        staff.give_reason(conversation_id)
    sys.stdout.write(f"  at {there:,} messages, {staff.ROUNDS} rounds each\n")
    kept = [
        staff.page_within(name, [reverse("console:conversation", args=[one]) for one in ids], most)
        for name, (ids, most) in ways.items()
    ]
    return 0 if all(kept) else 1


def _tell_long(conversation_id: UUID) -> None:
    """A line of 5,000 messages, kept between runs; it is no part of what `reading` weighs against flat."""
    from conversations.models import Account, Conversation

    if Conversation.objects.filter(pk=conversation_id).exists():
        return
    account = Account.objects.filter(realm__slug="bench")[0]
    batch = corpus.Batch()
    telling = corpus.Telling(corpus.Teller([account.pk]), LONG_NUMBER, batch)
    telling.write(turns=LONG_TURNS)
    batch.rows["bench.flat_text"], batch.rows["bench.flat_bytes"] = [], []
    corpus.copy_batch(batch)
