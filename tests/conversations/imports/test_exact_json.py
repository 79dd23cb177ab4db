import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.imports import exact_json


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":1.0,"b":[1e2,0.10,-0,-0.0,1E+400]}',
        b"12345678901234567890123",
        b"[" + b"9" * 5000 + b"]",
        b'["\\ud83d","\\u0000","\\"",null,true,NaN]',
        '["caf\u00e9 \u2028"]'.encode(),
    ],
)
def test_numbers_and_odd_strings_are_written_as_they_were_spelt(text):
    assert exact_json.dump(exact_json.load(text)) == text


def test_what_a_later_member_of_the_same_key_replaces_is_counted():
    assert exact_json.load_noting(b'{"a":1,"a":{"b":2,"b":3,"b":4},"c":[{"a":5},{"a":6}]}') == (
        {"a": {"b": 4}, "c": [{"a": 5}, {"a": 6}]},
        3,
    )
    assert exact_json.load_noting(b"[" * 20_000 + b"]" * 20_000)[1] == 0


def test_nesting_past_the_interpreters_stack_is_read_and_written():
    text = b'[{"a":' * 20_000 + b'{"x":1.50,"y":["\\ud800",true,null,-Infinity]}' + b"}]" * 20_000

    assert exact_json.dump(exact_json.load(text)) == text


def test_from_strangers_nesting_past_the_stack_is_refused_before_it_costs_anything():
    read = exact_json.load_within_the_stack
    assert exact_json.dump(read(b'{"a":[1.50,"\\ud800"]}')) == b'{"a":[1.50,"\\ud800"]}'
    for text in (b"[" * 8_000_000, b'{"a":' * 100_000 + b"1" + b"}" * 100_000):
        with pytest.raises(ValueError, match=r"^nested too deep$"):
            read(text)
    with pytest.raises(ValueError, match="not UTF-8 at byte 0"):
        read(b"\xff")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'{"a":1', "not JSON: expecting ',' delimiter at character 6"),
        (b"\xffx", "not UTF-8 at byte 0"),
        (b"", "not JSON: expecting value at character 0"),
        (b"[" * 30_000, "not JSON: unexpected text at character 30000"),
        (b"[" * 30_000 + b"}", "not JSON: an unmatched bracket at character 30001"),
    ],
)
def test_what_is_no_json_is_said_with_its_place(text, reason):
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        exact_json.load(text)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(value=values)
def test_any_value_comes_back(value):
    assert exact_json.load(exact_json.dump(value)) == value
