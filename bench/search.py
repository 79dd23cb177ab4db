"""Searching a million messages: by words, common and rare, by phrase and by beginning; and by ids.

The texts are made of 3,000 words, so that each stands in tens of thousands of texts, and three of
them together in a few dozen.
"""

import random
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median

from bench import corpus, large, lookup, timing

SEARCHES = 15
MOST_MILLISECONDS = 60.0


def main(arguments: list[str]) -> int:
    from conversations.search.words import Within, search_words

    there = large.ensure(large.wanted(arguments))
    sys.stdout.write(f"  at {there:,} messages, {SEARCHES} different searches of each kind\n")
    kept = [
        _measure(name, searches, lambda text: len(search_words(text=text, within=Within())))
        for name, searches in _texts().items()
    ]
    for name, ids in _ids().items():
        kept.append(_measure(name, ids, lambda term: lookup.look_up(term)()))
    return 0 if all(kept) else 1


def _measure(name: str, searches: Sequence[str], find: Callable[[str], int]) -> bool:
    find(searches[0])
    taken, found = [], 0
    for searched in searches[1:]:
        began = time.perf_counter()
        found += find(searched)
        taken.append((time.perf_counter() - began) * 1000)
    usual = median(taken)
    sys.stdout.write(
        f"  {name:<28} {usual:8.1f} ({min(taken):6.1f}) ms, {found / len(taken):.0f} shown on average\n"
    )
    return usual <= MOST_MILLISECONDS or timing.within(name, usual, MOST_MILLISECONDS, "ms")


def _texts() -> dict[str, list[str]]:
    rng = random.Random(5)
    words = corpus.Teller([]).pool.split()

    def some(number: int) -> list[str]:
        at = rng.randrange(len(words) - number)
        return words[at : at + number]

    kinds: dict[str, Callable[[], str]] = {
        "one common word": lambda: some(1)[0],
        "two words": lambda: f"{some(1)[0]} {some(1)[0]}",
        "three words": lambda: " ".join(some(1)[0] for _ in range(3)),
        "a phrase of four": lambda: f'"{" ".join(some(4))}"',
        "a word without another": lambda: f"{some(1)[0]} -{some(1)[0]}",
        "a beginning": lambda: f"{max(some(5), key=len)[:5]}*",
        "a word that is nowhere": lambda: f"nowhere{rng.randrange(10**6)}",
    }
    return {name: [make() for _ in range(SEARCHES + 1)] for name, make in kinds.items()}


def _ids() -> dict[str, list[str]]:
    return {kind: lookup.sample(query)[: SEARCHES + 1] for kind, query in lookup.KINDS.items()} | {
        "an id that is nowhere": [f"toolu_nowhere_{number}" for number in range(SEARCHES + 1)]
    }
