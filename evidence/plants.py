"""A month that is being planted, and what a run over it must find."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count

from evidence.month import END, Month
from evidence.told import Told

type Key = tuple[str, str]
type Mend = Callable[[datetime], None]


@dataclass
class Plants:
    """What a run over this month must find."""

    month: Month
    expected: list[Key] = field(default_factory=list)
    mends: dict[Key, Mend] = field(default_factory=dict)
    _numbers: count = field(default_factory=lambda: count(1))

    def expect(self, kind: str, subject: object, mend: Mend | None = None) -> None:
        key = (kind, str(subject))
        self.expected.append(key)
        if mend is not None:
            self.mends[key] = mend

    def odd_amount(self) -> int:
        """An amount that no other movement has: nothing is suggested for it."""
        return 100_000_001 + 10 * next(self._numbers)

    def drop(self, reference: str, kind: str) -> Mend:
        def mend(now: datetime) -> None:
            lines = self.month.lines
            lines[:] = [
                one for one in lines if (one["source_id"], one["reporting_category"]) != (reference, kind)
            ]

        return mend

    def unwritten(self) -> Told:
        """A charge that only the processor knows."""
        rng = self.month.rng()
        at = END - timedelta(days=rng.randrange(2, 29), seconds=rng.randrange(80_000))
        charge = f"ch_{rng.getrandbits(96):024x}"
        nobody = self.month.account_ids[0]
        return Told(id=nobody, charge=charge, amount=self.odd_amount(), currency="eur", at=at)
