import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.imports import splitting
from conversations.imports.splitting import OversizeError, split_array, split_lines, split_values
from conversations.imports.trouble import UnreadableError

ITEMS = [{"a": ']}"['}, 12, 'x,]\\"', [1, [2, {}]], None, {}, [], ""]


@pytest.fixture(params=[1, 3, 1 << 18])
def chunk(request, monkeypatch):
    monkeypatch.setattr(splitting, "CHUNK_BYTES", request.param)


def split(text: bytes, how=split_array) -> list[bytes | OversizeError]:
    return list(how(io.BytesIO(text)))


def test_each_element_comes_with_its_own_bytes(chunk):
    text = b" [\n" + b" ,\r\n ".join(json.dumps(item).encode() for item in ITEMS) + b"\t] \n"

    assert split(text) == [json.dumps(item).encode() for item in ITEMS]


def test_letters_of_several_bytes_move_no_element(chunk):
    text = '["é😀 }", {"ключ": ["日本", "\u2028"]}, {"é": "]"}]'.encode()

    assert [json.loads(one) for one in split(text)] == json.loads(text)
    assert b", ".join(split(text)) == text[1:-1]


def test_an_empty_list_has_no_elements(chunk):
    assert split(b"[ ]") == []


def test_values_may_follow_each_other_however_spaced(chunk):
    assert split(b'{"a":1}{"b":[2]}\n[3]  4\n"5"', split_values) == [
        b'{"a":1}',
        b'{"b":[2]}',
        b"[3]",
        b"4",
        b'"5"',
    ]


def test_a_damaged_element_between_brackets_costs_only_itself(chunk):
    assert split(b'[{"a":1},{"b" oops},{"c":2}]') == [b'{"a":1}', b'{"b" oops}', b'{"c":2}']


def test_a_file_that_ends_in_an_element_gives_what_came_before(chunk):
    stream = split_array(io.BytesIO(b'[{"a":1},{"b":"x'))

    assert next(stream) == b'{"a":1}'
    with pytest.raises(UnreadableError, match="the file ends inside an element"):
        next(stream)


@pytest.mark.parametrize("split_them", [split_array, split_values, split_lines])
def test_an_element_past_the_limit_is_said_and_the_rest_goes_on(chunk, monkeypatch, split_them):
    monkeypatch.setattr(splitting, "MAX_ELEMENT_BYTES", 100)
    large = b'{"a":"' + b'x\\\\\\"' * 500 + b'","b":[{}]}'
    text = b"[1," + large + b",2]" if split_them is split_array else b"1\n" + large + b"\n2\n"

    found = split(text, split_them)

    assert [type(one) if isinstance(one, OversizeError) else one for one in found] == [
        b"1",
        OversizeError,
        b"2",
    ]


def test_only_a_line_feed_ends_a_line():
    assert split("a\u2028b\r\nc\x0bd\n".encode(), split_lines) == ["a\u2028b".encode(), b"c\x0bd"]


@given(items=st.lists(st.recursive(st.integers() | st.text() | st.none(), st.lists, max_leaves=8)))
def test_any_list_is_cut_into_its_items(items):
    found = split(json.dumps(items).encode())

    assert [json.loads(raw) for raw in found if isinstance(raw, bytes)] == items
