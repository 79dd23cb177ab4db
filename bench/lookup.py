"""The full answer to a pasted id, beside one round trip to the database."""

import random
from collections.abc import Callable

from bench import corpus, plans, timing

ROUNDS = 300
IDS = 200
MOST_ROUND_TRIPS = 2.5

# Ids of each kind that the search box takes, from all over the corpus.
KINDS = {
    "call id": "SELECT tool_call_id FROM conversations_messagepart WHERE tool_call_id IS NOT NULL",
    "response id": "SELECT provider_response_id FROM conversations_generation WHERE message_seq IS NOT NULL",
    "request id": "SELECT request_id FROM conversations_generation",
}


def main(arguments: list[str]) -> int:
    corpus.ensure(corpus.wanted(arguments))
    ids = {kind: sample(query) for kind, query in KINDS.items()}
    if "--plans" in arguments:
        return plans.show({kind: look_up(some[0]) for kind, some in ids.items()})
    timing.pin()
    found = timing.in_turn(
        {
            "round trip": lambda _: _round_trip(),
            **{kind: _one_of(some) for kind, some in ids.items()},
        },
        choices=IDS,
        rounds=ROUNDS,
    )
    timing.table(found, beside=("round trip",))
    kept = [timing.ratio_within(found, kind, "round trip", MOST_ROUND_TRIPS) for kind in ids]
    return 0 if all(kept) else 1


def sample(query: str) -> list[str]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"({query} LIMIT 5000)")
        found = [row[0] for row in cursor.fetchall()]
    return random.Random(1).sample(found, IDS)


def _round_trip() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()


def _one_of(ids: list[str]) -> Callable[[int], object]:
    return lambda n: look_up(ids[n])()


def look_up(term: str) -> Callable[[], int]:
    from conversations.search.lookup import find_by_id

    def found() -> int:
        return len(find_by_id(term=term, realm_ids=None))

    return found
