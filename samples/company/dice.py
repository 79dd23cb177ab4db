"""Chance that is the same for the same seed on every machine and Python."""

import hashlib
from collections.abc import Sequence


class Dice:
    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._thrown = 0

    def below(self, limit: int) -> int:
        """A number from 0 up to, not including, `limit`."""
        self._thrown += 1
        digest = hashlib.sha256(f"{self._seed}/{self._thrown}".encode()).digest()
        return int.from_bytes(digest[:8]) % limit

    def between(self, lowest: int, highest: int) -> int:
        return lowest + self.below(highest - lowest + 1)

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def pick[T](self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]
