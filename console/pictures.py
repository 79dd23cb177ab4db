"""Pictures of sums by day: bars of an SVG that the server makes. No script, no style from data.

Heights are whole pixels, so that a picture is the same wherever it is made. What
is not zero is at least one pixel high.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

HEIGHT = 96
WIDTH = 720
_GAP = 2


@dataclass(frozen=True, slots=True)
class Bar:
    """One day. `lower` stands on the ground, `upper` on it; `words` say the numbers."""

    x: int
    width: int
    lower: int
    upper: int
    words: str
    url: str

    @property
    def lower_y(self) -> int:
        return HEIGHT - self.lower

    @property
    def upper_y(self) -> int:
        return HEIGHT - self.lower - self.upper


@dataclass(frozen=True, slots=True)
class Picture:
    bars: Sequence[Bar]
    first: date
    last: date
    width: int = WIDTH
    height: int = HEIGHT


@dataclass(frozen=True, slots=True)
class Column:
    """What is drawn for one day: `lower` and `upper` add up."""

    day: date
    lower: Decimal
    upper: Decimal
    words: str
    url: str


def draw(columns: Sequence[Column]) -> Picture | None:
    """Return the picture of these days; None where there is nothing to draw."""
    tallest = max((column.lower + column.upper for column in columns), default=Decimal(0))
    if not tallest:
        return None
    step = max(WIDTH // len(columns), 1)
    width = max(min(step - _GAP, 28), 1)
    bars = [
        Bar(
            x=number * step,
            width=width,
            lower=_height(column.lower, tallest),
            upper=_height(column.upper, tallest),
            words=column.words,
            url=column.url,
        )
        for number, column in enumerate(columns)
    ]
    return Picture(bars, columns[0].day, columns[-1].day, width=step * len(columns))


def _height(value: Decimal, tallest: Decimal) -> int:
    return max(int(value * HEIGHT / tallest), 1) if value else 0
