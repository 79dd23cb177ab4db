"""Recording a call: the processor's time for a conversation's second and for its last turn."""

import statistics
import sys
import time

from bench import corpus, plans, recorded, timing

CONVERSATIONS = 40
MOST_MILLISECONDS = 5.0


def main(arguments: list[str]) -> int:
    corpus.ensure(corpus.wanted(arguments))
    recorded.forget()  # What a stopped run left is known already, and would not be recorded again.
    try:
        return _measure(arguments)
    finally:
        recorded.forget()


def _measure(arguments: list[str]) -> int:
    if "--plans" in arguments:
        conversation_id = recorded.start()
        bodies = list(recorded.calls(0))
        return plans.show({"record": lambda: recorded.record(conversation_id, *bodies.pop(0))})
    timing.pin()
    taken = [_take(seed) for seed in range(CONVERSATIONS)]
    for place, name in ((1, "second turn"), (-1, "last turn")):
        spent = [times[place] for times in taken]
        sys.stdout.write(
            f"  {name:<28} {statistics.median(spent):8.2f} ({min(spent):6.2f} at least) ms of CPU\n"
        )
    last = statistics.median(times[-1] for times in taken)
    return 0 if timing.within("record the last turn", last, MOST_MILLISECONDS, "ms of CPU") else 1


def _take(seed: int) -> list[float]:
    """Record a conversation call by call; return the milliseconds of this process's CPU that each took."""
    conversation_id = recorded.start()
    spent = []
    for body, answer in recorded.calls(seed):
        began = time.process_time_ns()
        recorded.record(conversation_id, body, answer)
        spent.append((time.process_time_ns() - began) / 1e6)
    return spent
