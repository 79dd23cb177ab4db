"""Importing a statement: streamed, once only, every row kept raw, bad rows told."""

import pytest
from django.db import connection

from conversations.errors import StoreError
from conversations.models import RawBody
from conversations.services.raw_bodies import open_raw_body
from ledger.models import Statement, StatementLine
from ledger.statements.importing import Told, import_statement
from tests.conversations.conftest import NOW
from tests.conversations.writers import at_once
from tests.ledger.statements.conftest import IMPORTER, said

HEADER = "kind,reference,currency,occurred_at,amount_minor\n"
ROW = "charge,ch_{0},usd,2026-03-04 10:00:0{0},1900\n"
PLAIN = HEADER + ROW.format(1) + ROW.format(2)

pytestmark = pytest.mark.django_db


def test_a_plain_file_is_read_with_amounts_in_minor_units(take_in):
    imported = take_in(PLAIN, processor="stripe")

    assert imported.is_new
    assert imported.statement.amount_style == "minor"
    assert said(imported.statement, "number", "kind", "reference", "amount_minor", "currency") == [
        (2, "charge", "ch_1", 1900, "usd"),
        (3, "charge", "ch_2", 1900, "usd"),
    ]


def test_the_same_content_twice_adds_nothing(take_in):
    first = take_in(PLAIN, processor="stripe")

    again = take_in(PLAIN, processor="stripe", name="copy.csv")

    assert (again.statement, again.is_new) == (first.statement, False)
    assert (Statement.objects.count(), StatementLine.objects.count()) == (1, 2)


@pytest.mark.parametrize(
    "told", [{"zone": "Europe/Paris"}, {"period_end": NOW}], ids=["another zone", "another period"]
)
def test_the_same_content_told_otherwise_is_refused_and_not_passed_over(take_in, told):
    take_in(PLAIN, processor="stripe")

    with pytest.raises(StoreError) as refused:
        take_in(PLAIN, processor="stripe", **told)

    assert refused.value.rule == "imported-otherwise"
    assert take_in(PLAIN + "\n", processor="stripe", **told).is_new


def test_a_line_without_end_counts_as_one(take_in):
    text = HEADER + f"charge,ch_1,usd,2026-03-04 10:00:00,{'1' * 3_000_000}\n" + ROW.format(2)

    statement = take_in(text, processor="stripe").statement

    assert [row[:1] for row in said(statement, "number", "trouble") if row[1]] == [(2,)]
    assert statement.lines.get(reference="ch_2").number == 3


def test_bad_rows_are_kept_raw_with_line_and_reason_and_good_ones_are_read(take_in):
    text = HEADER + ROW.format(1) + "charge,ch_2,usd,03/04/2026 10:00,1900\nrefund,re_1,usd\n" + ROW.format(3)

    statement = take_in(text, processor="stripe").statement

    assert (statement.line_count, statement.skipped_count) == (4, 2)
    assert said(statement, "number", "trouble") == [
        (2, ""),
        (3, "“03/04/2026 10:00” is no date that can be read one way only; write 2026-03-04 14:05:00"),
        (4, "3 cells under 5 columns"),
        (5, ""),
    ]
    line = statement.lines.get(number=4)
    raw = open_raw_body(RawBody.objects.get(pk=line.raw_id))
    assert raw[line.raw_offset : line.raw_offset + line.raw_size] == b"refund,re_1,usd\n"


def test_every_line_leads_to_its_own_bytes_across_chunks(take_in):
    rows = [f"charge,ch_{number},usd,2026-03-04 10:00:00,{number + 1}\n" for number in range(4500)]

    statement = take_in(HEADER + "".join(rows), processor="stripe").statement

    bodies = {raw.pk: open_raw_body(raw) for raw in RawBody.objects.filter(raw_class="statement_line")}
    assert len(bodies) == 3
    kept = [
        bodies[raw][offset : offset + size].decode()
        for raw, offset, size in said(statement, "raw_id", "raw_offset", "raw_size")
    ]
    assert kept == rows


def test_a_byte_order_mark_and_windows_line_ends_are_taken(take_in):
    statement = take_in(b"\xef\xbb\xbf" + PLAIN.replace("\n", "\r\n").encode(), processor="stripe").statement

    assert (statement.line_count, statement.skipped_count) == (2, 0)


def test_the_period_is_that_of_the_lines_unless_it_is_told(take_in):
    statement = take_in(PLAIN, processor="stripe").statement

    assert str(statement.period_start) == "2026-03-04 10:00:01+00:00"
    assert str(statement.period_end) == "2026-03-04 10:00:03+00:00"


@pytest.mark.parametrize(
    ("text", "told", "rule"),
    [
        ("a,b\n1,2\n", {}, "format-unknown"),
        ("", {}, "no-header"),
        (PLAIN, {}, "processor-not-said"),
        (PLAIN, {"processor": "stripe", "zone": "Mars/Base"}, "zone-unknown"),
        (HEADER + "charge,ch_1,usd,yesterday,1\n", {"processor": "stripe"}, "nothing-read"),
        (HEADER.replace("\n", ",kind\n") + "a,b,c,d,e,f\n", {"processor": "stripe"}, "column-repeated"),
    ],
)
def test_what_is_no_statement_is_refused_and_nothing_is_written(take_in, text, told, rule):
    with pytest.raises(StoreError) as refused:
        take_in(text, **told)

    assert refused.value.rule == rule
    assert (Statement.objects.count(), RawBody.objects.count()) == (0, 0)


@pytest.mark.django_db(transaction=True)
def test_two_imports_of_one_content_at_once_are_one_statement(realm, tmp_path):
    path = tmp_path / "statement.csv"
    path.write_text(PLAIN)

    def write():
        with path.open("rb") as file:
            told = Told(name="x", processor="stripe")
            return import_statement(realm=realm, file=file, told=told, actor=IMPORTER, now=NOW)

    found = at_once(write, write)

    assert len({imported.statement.pk for imported in found}) == 1
    assert sorted(imported.is_new for imported in found) == [False, True]
    assert StatementLine.objects.count() == 2


def test_a_line_is_never_changed_but_its_raw_body_may_go(take_in):
    take_in(PLAIN, processor="stripe")

    RawBody.objects.all().delete()

    assert list(StatementLine.objects.values_list("raw", flat=True)) == [None, None]
    with connection.cursor() as cursor:
        cursor.execute("SELECT has_table_privilege('ledger_statementline', 'UPDATE, DELETE')")
        assert cursor.fetchone() == (False,)
