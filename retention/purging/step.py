"""What a step of the purge is: it takes a batch, says where the next one begins, and counts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Ask:
    """One batch as it is asked for. `after` is what the batch before gave back, None at first."""

    after: Any
    limit: int
    now: datetime
    run_id: UUID
    is_dry_run: bool = False


@dataclass(slots=True)
class Taken:
    """What a batch took. `after` None ends the step; counts are `due`, `gone`, why others stayed, tables."""

    after: Any = None
    counts: dict[str, int] = field(default_factory=dict)

    def count(self, name: str, number: int) -> None:
        if number:
            self.counts[name] = self.counts.get(name, 0) + number

    def count_all(self, counted: Mapping[str, int]) -> None:
        for name, number in counted.items():
            self.count(name, number)


@dataclass(frozen=True, slots=True)
class Step:
    """`limit` bounds a batch's rows; a statement that is too slow even so is tried with fewer."""

    name: str
    take: Callable[[Ask], Taken]
    limit: int
