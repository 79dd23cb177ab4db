from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.wire.streams.events import Event, EventReader, is_event_stream, read_events

TWO = [Event("a", '{"x":"é"}'), Event("", "two\nlines")]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_any_line_ending_gives_the_same_events(ending):
    body = ': hello\nevent: a\nid: 7\ndata: {"x":"é"}\n\ndata:two\ndata: lines\n\n'.replace("\n", ending)

    assert list(read_events(body.encode())) == TWO


@given(st.lists(st.integers(0, 60)))
def test_chunks_may_break_anywhere_even_inside_a_character(cuts):
    body = '\ufeffevent: a\r\ndata: {"x":"é"}\r\n\r\ndata: two\rdata: lines\r\r'.encode()
    edges = [0, *sorted(cuts), len(body)]
    reader = EventReader()

    events = [event for start, end in pairwise(edges) for event in reader.feed(body[start:end])]

    assert [*events, *reader.close()] == TWO


def test_an_event_without_its_blank_line_is_given_and_marked():
    assert list(read_events(b"event: a\ndata: whole\n\ndata: cut")) == [
        Event("a", "whole"),
        Event("", "cut", is_cut=True),
    ]


def test_bare_objects_on_lines_are_events():
    assert list(read_events(b'{"n":1}\n{"n":2}')) == [Event("", '{"n":1}'), Event("", '{"n":2}')]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"event: message_start\ndata: {}", True),
        (b"data: [DONE]", True),
        (b"\xef\xbb\xbf: comment\n", True),
        (b'{"type":"message_start"}\n{"type":"ping"}\n', True),
        (b'{"type":"response.created","response":{}}', True),
        (b'{"id":"msg","content":[]}', False),
        (b'{\n "id": "msg"\n}', False),
        (b"", False),
        (b"<html>", False),
    ],
)
def test_a_recorded_answer_is_told_from_a_stream(body, expected):
    assert is_event_stream(body) is expected
