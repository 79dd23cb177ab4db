"""A body comes back byte for byte, whatever a column cannot hold of it."""

import pytest

from conversations.models import Generation, MessagePart
from tests.conversations.recording.exchanges import (
    answer,
    assistant,
    body,
    call,
    given_back,
    result,
    text,
    user,
)


def test_block_order_is_kept_and_the_misplaced_text_is_named(record):
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    sent = body(
        user("Check"),
        assistant(thinking, text("Checking"), call("toolu_Q1")),
        user(text("note from app"), result("toolu_Q1")),
    )

    exchange = record(sent)

    assert [part.type for part in MessagePart.objects.filter(seq__in=[2, 3]).order_by("seq", "ordinal")] == [
        "thinking",
        "text",
        "tool_use",
        "text",
        "tool_result",
    ]
    assert [(v.rule, v.place) for v in exchange.violations] == [
        ("results-come-first", "messages.2.content.0")
    ]
    assert given_back(exchange) == sent


def test_a_patch_over_a_fifth_gives_way_to_the_bytes(record):
    noise = " ".join(str(n * n % 9973) for n in range(400))
    first = record(body(user("Hi")), "Hello.")
    sent = body(
        user("Hi"),
        assistant({"type": "thinking", "thinking": noise, "signature": "x"}, text("Hello.")),
        user("So?"),
    )

    second = record(sent, after=first)

    assert (second.proof, second.match) == ("verbatim", "continued")
    assert Generation.objects.get(number=2).body_patch is None
    assert given_back(first, 2) == sent


@pytest.mark.parametrize(
    "raw_text",
    [
        rb'"before\u0000after"',
        rb'"half \ud83d end"',
        rb'"pair \ud83c\udf78 ok"',
        rb'"literal \\u0000 in docs"',
        '"caf\u00e9 e\u0301 \u202e"'.encode(),
        rb'"\/ \u0041 \u00e9"',
    ],
)
def test_characters_that_postgresql_cannot_hold_come_back_as_they_were(record, raw_text):
    block = b'{"type":"text","text":' + raw_text + b"}"
    tool = b'{"type":"tool_use","id":"t1","name":"q","input":{' + raw_text + b":" + raw_text + b"}}"
    sent = (
        b'{"model":"m","messages":[{"role":"user","content":['
        + block
        + b']},{"role":"assistant","content":['
        + tool
        + b']},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":'
        + raw_text
        + b"}]}]}"
    )

    exchange = record(sent, answer("x"))

    assert exchange.proof == "exact"
    assert given_back(exchange) == sent


def test_odd_spacing_key_order_and_repeated_keys_come_back(record):
    sent = (
        b'{"model":"m-1",  "messages":[{"role":"assistant","content":[{"type":"tool_use","id":"toolu_K1",'
        b'"name":"q","input":{"zeta":1,"alpha":{"z":2,"a":3},"zeta":4}}]}],'
        b'"cache_control":{"type":"ephemeral","ttl":"5m"}}'
    )

    exchange = record(sent)

    assert given_back(exchange) == sent


def test_sealed_and_empty_thinking_comes_back_byte_for_byte(record):
    parts = [
        {"type": "thinking", "thinking": "step one", "signature": "c2lnLUE="},
        {"type": "redacted_thinking", "data": "b3BhcXVlLUI="},
        {"type": "thinking", "thinking": "", "signature": "c2lnLUM="},
        call("toolu_S1", "q"),
    ]
    sent = body(user("Go"), assistant(*parts), user(result("toolu_S1")))

    exchange = record(sent)

    assert [p.type for p in MessagePart.objects.filter(seq=2).order_by("ordinal")] == ["thinking"] * 3 + [
        "tool_use"
    ]
    assert given_back(exchange) == sent


def test_empty_and_blank_content_stays_what_it_was(record):
    sent = body(
        user("Go"),
        assistant(text(""), call("toolu_E1", "q")),
        user(result("toolu_E1", ""), text("", cache_control={"type": "ephemeral"})),
        assistant(text(" \n\t ")),
        user("?"),
        {"role": "assistant", "content": []},
        user("!"),
    )

    exchange = record(sent)

    texts = list(
        MessagePart.objects.filter(type="text", seq__lte=4)
        .order_by("seq", "ordinal")
        .values_list("text", flat=True)
    )
    assert texts == ["Go", "", "", " \n\t "]
    assert given_back(exchange) == sent
    assert {v.rule for v in exchange.violations} >= {"text-not-blank"}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "x" * 300, "value": 1},
        {"type": "tool_use", "id": "i" * 400, "name": "n" * 400, "input": {}},
        {"type": "image", "source": {"type": "base64", "media_type": "m" * 300, "data": "aGk="}},
        {"type": ["no", "string"]},
        {"no": "type"},
        {"type": "tool_result"},
        {"type": "tool_use", "id": 7, "name": None, "input": "no object"},
    ],
)
def test_hostile_blocks_are_kept_in_columns_that_cannot_hold_them(record, block):
    sent = body(user(block), assistant(block), user("?"), {"role": "r" * 200, "content": "x"}, user("!"))

    exchange = record(sent, answer("x"))

    assert given_back(exchange) == sent
