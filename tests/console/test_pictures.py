"""Bars by day: whole pixels, and nothing that is not zero vanishes."""

from datetime import date
from decimal import Decimal

from console.pictures import HEIGHT, Column, draw


def column(lower: str, upper: str = "0") -> Column:
    return Column(date(2026, 3, 9), Decimal(lower), Decimal(upper), "words", "/there/")


def test_nothing_to_draw_is_no_picture():
    assert draw([]) is None
    assert draw([column("0")]) is None


def test_the_tallest_day_is_as_high_as_the_picture_and_the_smallest_is_still_seen():
    picture = draw([column("3", "1"), column("0.000000001"), column("0")])

    assert [(bar.lower, bar.upper) for bar in picture.bars] == [(72, 24), (1, 0), (0, 0)]
    assert (picture.bars[0].upper_y, picture.bars[0].lower_y) == (0, HEIGHT - 72)
