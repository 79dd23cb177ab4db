"""Cells that say one thing only; everything else is refused."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from ledger.statements import cells
from ledger.statements.cells import CellError

UTC_ZONE = ZoneInfo("UTC")


@pytest.mark.parametrize(
    ("text", "currency", "minor"),
    [
        ("19.99", "usd", 1999),
        ("5800", "jpy", 5800),
        ("5800.00", "jpy", 5800),
        ("5.000", "kwd", 5000),
        ("5.120", "kwd", 5120),
        ("5.00", "isk", 500),
        ("-3", "eur", -300),
    ],
)
def test_major_amounts_are_read_in_the_currencys_own_decimals(text: str, currency: str, minor: int):
    assert cells.major(text, currency) == minor


@pytest.mark.parametrize(
    "text", ["1,299.00", "19,99", "19.999", "1.000", "-12.500", "1 299.00", "1e3", "", "NaN", "£5", "(5.00)"]
)
def test_a_major_amount_that_can_be_read_two_ways_is_refused(text: str):
    with pytest.raises(CellError):
        cells.major(text, "usd")


def test_a_yen_amount_with_decimals_is_refused():
    with pytest.raises(CellError, match="more decimals"):
        cells.major("58.50", "jpy")


def test_an_amount_beyond_every_ledger_is_refused():
    with pytest.raises(CellError, match="more than any ledger"):
        cells.major("999999999999999999.00", "usd")


def test_minor_amounts_have_no_point():
    assert cells.minor("1999", "usd") == 1999
    with pytest.raises(CellError, match="minor units"):
        cells.minor("19.99", "usd")


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("2026-03-04 14:05:09", "UTC", datetime(2026, 3, 4, 14, 5, 9, tzinfo=UTC)),
        ("2026-03-04 14:05", "Europe/Paris", datetime(2026, 3, 4, 13, 5, tzinfo=UTC)),
        ("2026-03-04T14:05:09Z", "Europe/Paris", datetime(2026, 3, 4, 14, 5, 9, tzinfo=UTC)),
        ("2026-03-04T14:05:09+02:00", "UTC", datetime(2026, 3, 4, 12, 5, 9, tzinfo=UTC)),
        ("2026-07-01", "America/New_York", datetime(2026, 7, 1, 4, 0, tzinfo=UTC)),
    ],
)
def test_moments_are_read_in_their_zone(text: str, zone: str, expected: datetime):
    assert cells.moment(text, ZoneInfo(zone)) == expected


@pytest.mark.parametrize(
    "text", ["03/04/2026 02:05:00 PM", "04.03.2026 14:05:00", "2026-13-01", "2026-02-30", "", "now"]
)
def test_a_date_of_some_locale_or_none_is_refused(text: str):
    with pytest.raises(CellError):
        cells.moment(text, UTC_ZONE)


@pytest.mark.parametrize("text", ["2026-10-25 02:30:00", "2026-03-29 02:30:00"])
def test_an_hour_that_clocks_showed_twice_or_never_is_refused(text: str):
    with pytest.raises(CellError, match="twice or never"):
        cells.moment(text, ZoneInfo("Europe/Paris"))


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("0001-01-01T00:00:00+05:00", "UTC"),
        ("9999-12-31T23:59:59-05:00", "UTC"),
        ("9999-12-31 23:59:59", "America/New_York"),
        ("2026-03-04T10:00:00+99:99", "UTC"),
    ],
)
def test_a_moment_that_no_clock_shows_is_refused(text: str, zone: str):
    with pytest.raises(CellError, match="no date of the calendar"):
        cells.moment(text, ZoneInfo(zone))


def test_an_offset_of_the_cell_wins_over_the_zone():
    assert cells.moment("2026-03-04T10:00:00+02:00", ZoneInfo("Asia/Tokyo")) == datetime(
        2026, 3, 4, 8, tzinfo=UTC
    )
