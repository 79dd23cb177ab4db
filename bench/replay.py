"""The body of a conversation's last call, given back and checked, beside reading flat tables, in turn."""

from uuid import UUID

from bench import corpus, plans, recorded, timing
from bench.reading import read_flat

CONVERSATIONS = 20
ROUNDS = 400
MOST_TIMES_FLAT = 3.0


def main(arguments: list[str]) -> int:
    corpus.ensure(corpus.wanted(arguments))
    recorded.forget()  # What a stopped run left is known already, and would not be recorded again.
    try:
        return _measure(arguments)
    finally:
        recorded.forget()


def _measure(arguments: list[str]) -> int:
    attempts = [_recorded(seed) for seed in range(CONVERSATIONS)]
    if "--plans" in arguments:
        return plans.show({"replay": lambda: give_back(*attempts[0])})
    timing.pin()
    ids = [corpus.conversation_id(number) for number in range(CONVERSATIONS)]
    found = timing.in_turn(
        {
            "flat text": lambda n: read_flat("flat_text", ids[n]),
            "flat bytes": lambda n: read_flat("flat_bytes", ids[n]),
            "replay": lambda n: give_back(*attempts[n]),
        },
        choices=CONVERSATIONS,
        rounds=ROUNDS,
    )
    timing.table(found, beside=("flat text", "flat bytes"))
    return 0 if timing.ratio_within(found, "replay", "flat text", MOST_TIMES_FLAT) else 1


def _recorded(seed: int) -> tuple[UUID, int]:
    conversation_id, number = recorded.start(), 0
    for body, answer in recorded.calls(seed):
        number = recorded.record(conversation_id, body, answer)
    return conversation_id, number


def give_back(conversation_id: UUID, number: int) -> int:
    from conversations.replay import request_body_of

    return len(request_body_of(conversation_id=conversation_id, number=number))
