import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.canonical_json import canonical_json

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"1", b"1.0"),
        (b"1", b"1e0"),
        (b"100", b"1E+2"),
        (b"0", b"-0.0"),
        (b"0.1", b"0.10"),
        (b"15e-1", b"1.5"),
        (b"9007199254740993", b"9007199254740993.0"),
        (b"1e400", b"10e399"),
        (b'{"a":1,"b":2}', b'{ "b": 2.0, "a": 1 }'),
        (b'{"a":1,"a":2}', b'{"a":2}'),
        (rb'"\u00e9\/"', '"é/"'.encode()),
        (rb'"\ud83c\udf78"', '"🍸"'.encode()),
        (rb'["\ud83d", 1.50]', rb'["\uD83D",1.5]'),
    ],
)
def test_spelling_does_not_count(one, other):
    assert canonical_json(one) == canonical_json(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"1", b'"1"'),
        (b"9007199254740993", b"9007199254740992"),
        (b"0.1", b"0.1000000000000000055511151231257827"),
        (b"1e400", b"1e401"),
        (b"null", b"{}"),
        (b"[1,[2]]", b"[[1],2]"),
        ('"é"'.encode(), '"e\u0301"'.encode()),
        (b"true", b"1"),
        (b"1.5", b'"15e-1"'),
    ],
)
def test_different_values_stay_different(one, other):
    assert canonical_json(one) != canonical_json(other)


def test_a_huge_exponent_is_not_written_out():
    assert canonical_json(b"1e200000") == b"1e200000"


def test_an_integer_longer_than_python_reads_is_compared_by_its_digits():
    digits = b"7" * 5000

    assert canonical_json(digits) == canonical_json(digits + b".0")


@pytest.mark.parametrize("broken", [b"", b"{", b'{"a":}', b"\xff", b'"raw\ttab"', b"[" * 5000])
def test_what_is_no_json_is_refused(broken):
    with pytest.raises(ValueError, match=r".*"):
        canonical_json(broken)


@given(json_values)
def test_key_order_spaces_and_escapes_never_count(value):
    plain = json.dumps(value, ensure_ascii=False).encode()
    turned = json.dumps(_reverse_keys(value), ensure_ascii=True, indent=1).encode()

    assert canonical_json(plain) == canonical_json(turned)


def _reverse_keys(value):
    if isinstance(value, dict):
        return {key: _reverse_keys(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return [_reverse_keys(item) for item in value]
    return value
