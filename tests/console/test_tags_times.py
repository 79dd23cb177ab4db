from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from tests.console.rendering import render

MOMENT = datetime(2026, 11, 24, 14, 5, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("", "24 Nov 2026, 14:05"),
        ("seconds=True", "24 Nov 2026, 14:05:07"),
        ("year=False", "24 Nov, 14:05"),
        ("year=False seconds=True", "24 Nov, 14:05:07"),
        ("show='date'", "24 Nov 2026"),
        ("show='date' year=False", "24 Nov"),
        ("show='date' seconds=True", "24 Nov 2026"),
        ("show='clock'", "14:05"),
        ("show='clock' seconds=True", "14:05:07"),
    ],
)
def test_a_moment_shows_what_its_place_needs(arguments, text):
    assert render(f"{{% moment at {arguments} %}}", at=MOMENT) == (
        f'<time datetime="2026-11-24T14:05:07+00:00">{text}</time>'
    )


def test_a_moment_stands_in_the_zone_of_the_page():
    with timezone.override(ZoneInfo("Asia/Tokyo")):
        html = render("{% moment at %}", at=datetime(2026, 12, 31, 20, 0, tzinfo=UTC))

    assert html == '<time datetime="2027-01-01T05:00:00+09:00">1 Jan 2027, 05:00</time>'


def test_no_moment_is_an_en_dash():
    assert (
        render("{% moment at %}{% age at now %}", at=None, now=MOMENT) == '<span class="muted">–</span>' * 2
    )


@pytest.mark.parametrize(
    ("elapsed", "text"),
    [
        (timedelta(0), "0 s"),
        (timedelta(seconds=59, milliseconds=999), "59 s"),
        (timedelta(seconds=60), "1 min"),
        (timedelta(minutes=38, seconds=59), "38 min"),
        (timedelta(hours=5, minutes=59), "5 h"),
        (timedelta(hours=24), "1 d"),
        (timedelta(days=21, hours=23), "21 d"),
        (timedelta(days=1234), "1,234 d"),
        (timedelta(hours=-2), "in 2 h"),
        (timedelta(days=-3), "in 3 d"),
    ],
)
def test_an_age_is_said_in_its_largest_unit(elapsed, text):
    assert render("{% age since now %}", since=MOMENT, now=MOMENT + elapsed) == (
        f'<time datetime="2026-11-24T14:05:07+00:00">{text}</time>'
    )


@pytest.mark.parametrize(
    ("took", "text"),
    [
        (0, "0 ms"),
        (212, "212 ms"),
        (999, "999 ms"),
        (1_000, "1.00 s"),
        (1_319, "1.31 s"),
        (30_000, "30.00 s"),
        (59_999, "59.99 s"),
        (125_000, "2 min 05 s"),
        (11_520_000, "3 h 12 min"),
        (timedelta(seconds=1, microseconds=310_900), "1.31 s"),
        (None, "–"),
    ],
)
def test_a_duration_is_as_exact_as_it_is_short(took, text):
    assert render("{{ took|duration }}", took=took) == text
