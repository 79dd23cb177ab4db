from decimal import Decimal

import pytest

from conversations.wire.shapes import WireError
from conversations.wire.slices import Lexeme, Sliced, decode_text, read_json, read_list, slice_json


def test_members_keep_their_exact_slices_with_odd_space_and_repeated_names():
    text = '{ "a" :1 ,\n"b":[ 1.0,2 ] , "a":{"x":  3}}'

    sliced = slice_json(text, {"b": read_list()})

    assert [text[m.start : m.end] for m in sliced.members] == ['"a" :1', '"b":[ 1.0,2 ]', '"a":{"x":  3}']
    assert sliced.value("a") == {"x": 3}
    listed = sliced.value("b")
    assert isinstance(listed, Sliced)
    assert [text[i.start : i.end] for i in listed.items] == ["1.0", "2"]


def test_a_name_with_escapes_is_read_and_kept():
    text = '{"\\u0061\\"" : true}'

    (member,) = slice_json(text, {}).members

    assert member.key == 'a"'
    assert text[member.start : member.end] == text[1:-1]


def test_numbers_stay_exact_or_stay_as_they_were_spelled():
    digits = "9" * 5000

    values = read_json(f"[0.10, 1e400, {digits}, 1e99999999999999999999, NaN, -Infinity]")

    assert values == [
        Decimal("0.10"),
        Decimal("1e400"),
        Decimal(digits),
        Lexeme("1e99999999999999999999"),
        Lexeme("NaN"),
        Lexeme("-Infinity"),
    ]


def test_a_byte_order_mark_is_stepped_over():
    assert slice_json('\ufeff{"a":1}', {}).value("a") == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "character 0: the body is not a JSON object"),
        ("[1]", "character 0: the body is not a JSON object"),
        ("{", "character 1: a member's name is missing"),
        ('{"a"', "character 4: ':' is missing"),
        ('{"a":', "character 5: Expecting value"),
        ('{"a":1', "character 6: ',' or '}' is missing"),
        ('{"a":1,}', "character 7: a member's name is missing"),
        ('{"a":[1,]}', "character 8: Expecting value"),
        ('{"a":"tab\t"}', "character 9: Invalid control character at"),
        ('{"a":1} x', "character 7: more text after the JSON object"),
        ('{"b":[' + "9" * 5000 + ",x]}", "character 5007: Expecting value"),
        ('{"b":[' + "9" * 5000 + "," + "[" * 100_000, "character 5: nested too deeply to be read"),
        ('{"b":' + "[" * 100_000, "character 5: nested too deeply to be read"),
    ],
)
def test_what_is_not_json_names_the_place(text, reason):
    with pytest.raises(WireError) as caught:
        slice_json(text, {"a": read_list()})

    assert str(caught.value) == reason


def test_bytes_that_are_not_utf8_name_the_byte():
    with pytest.raises(WireError, match=r"^byte 5: the body is not valid UTF-8$"):
        decode_text(b'{"a":\xff}')
