"""Cutting a file into records: each keeps its line and its bytes, whatever stands in it."""

import io

from ledger.statements.records import Record, records


def cut(text: bytes) -> list[Record]:
    return list(records(io.BytesIO(text)))


def test_each_record_knows_its_line_and_its_bytes():
    found = cut(b"a,b\r\n\r\n1, 2 \r\n")

    assert found == [Record(1, b"a,b\r\n", ["a", "b"]), Record(3, b"1, 2 \r\n", ["1", "2"])]


def test_a_byte_order_mark_is_no_part_of_the_first_name():
    assert cut(b"\xef\xbb\xbfid,b\n")[0].cells == ["id", "b"]


def test_a_quoted_cell_may_hold_line_ends():
    found = cut(b'a\n"one\ntwo",2\n3,4\n')

    assert [(record.number, record.cells) for record in found] == [
        (1, ["a"]),
        (2, ["one\ntwo", "2"]),
        (4, ["3", "4"]),
    ]


def test_a_quote_that_is_never_closed_costs_its_own_line_only():
    lines = b"".join(b"%d,x\n" % number for number in range(300))

    found = cut(b'a,b\n"broken,1\n' + lines)

    assert [record.number for record in found if record.trouble] == [2]
    assert found[1].trouble == "a quotation mark is never closed"
    assert [record.cells for record in found if record.cells][1:] == [[str(n), "x"] for n in range(300)]


def test_an_open_quote_at_the_end_costs_its_own_line_only():
    found = cut(b'a,b\n"broken,1\n2,3\n')

    assert [(record.number, record.cells) for record in found] == [
        (1, ["a", "b"]),
        (2, None),
        (3, ["2", "3"]),
    ]


def test_what_is_not_utf8_or_holds_nul_is_kept_with_its_trouble():
    found = cut(b"a\n\xff\n1\x002\n")

    assert [record.trouble for record in found] == ["", "byte 1 is not UTF-8", "it holds a NUL character"]
    assert found[1].raw == b"\xff\n"


def test_a_quotation_mark_within_a_cell_opens_nothing():
    """As in inches. Of two such lines, those between them were once taken for one cell."""
    found = cut(b'a,12" pizza\nb,x\nc,10" screen\nd,y\n')

    assert [record.cells for record in found] == [
        ["a", '12" pizza'],
        ["b", "x"],
        ["c", '10" screen'],
        ["d", "y"],
    ]


def test_two_quotes_that_are_never_closed_cost_their_own_lines_only():
    found = cut(b'a,"open\nb,x\nc,"y"\nd,"open too\n')

    assert [(record.number, record.cells) for record in found] == [
        (1, None),
        (2, ["b", "x"]),
        (3, ["c", "y"]),
        (4, None),
    ]


def test_a_bare_carriage_return_is_no_end_of_a_line():
    found = cut(b"a,b\nc\rd,e\n")

    assert [record.trouble for record in found] == [
        "",
        "it holds a line end outside of quotation marks; lines end in a line feed",
    ]


def test_a_cell_longer_than_any_is_told():
    found = cut(b'"' + b"x" * 200_000 + b'",1\na,b\n')

    assert [(record.number, bool(record.trouble)) for record in found] == [(1, True), (2, False)]
