"""What a request of Anthropic's dialect should not hold is kept, marked, and written as it came."""

import pytest

from conversations.drafts import HOLE_STRING
from conversations.vocabulary import PartType, Role
from conversations.wire.anthropic_messages import parse_request
from conversations.wire.shapes import WireError
from tests.conversations.wire.anthropic import ANTHROPIC, messages_of, parts_of
from tests.conversations.wire.bodies import parsed_and_same, rendered


def test_a_repeated_call_id_in_one_message_is_kept_and_marked():
    first, second = parts_of(
        {"type": "tool_use", "id": "charge:1", "name": "charge", "input": {"amount": 2400}},
        {"type": "tool_use", "id": "charge:1", "name": "unknown", "input": {}},
        role="assistant",
    )

    assert (first.orphan, second.orphan) == (False, True)


def test_a_call_without_an_id_gets_one_that_says_so():
    parts = parts_of(
        {"type": "tool_use", "name": "a", "input": {}},
        {"type": "tool_use", "id": "", "name": "b", "input": {}},
        {"type": "tool_use", "id": "minted-0", "name": "c", "input": {}},
        role="assistant",
    )

    assert [(part.tool_call_id, part.is_minted_id) for part in parts] == [
        ("minted-0-", True),
        ("minted-1", True),
        ("minted-0", False),
    ]


def test_an_id_that_no_index_holds_is_replaced_on_call_and_result_alike():
    asked, answered = messages_of(
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "x" * 3000, "name": "f", "input": {}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x" * 3000}]},
    )
    (call,), (result,) = asked.parts, answered.parts

    assert call.tool_call_id == result.tool_call_id
    assert str(call.tool_call_id).startswith("minted-")


def test_unknown_blocks_fields_and_roles_survive():
    first, second, third, fourth = messages_of(
        {"role": "model", "content": [{"type": "connector_text", "x": [1, 2]}], "extra": {"y": None}},
        {"role": "user", "content": [{"type": "text", "text": "a", "novel": 1.0}, "stray", 7]},
        "no message at all",
        {"content": "without a role"},
    )

    assert (first.role, first.provider_role) == (Role.ASSISTANT, "model")
    assert (first.parts[0].type, first.parts[0].provider_type) == (PartType.OTHER, "connector_text")
    assert first.parts[0].payload == b'{"type":"connector_text","x":[1,2]}'
    assert (second.parts[0].text, second.parts[0].shell) == (
        "a",
        f'{{"type":"text","text":{HOLE_STRING},"novel":1.0}}',
    )
    assert [part.payload for part in second.parts[1:]] == [b'"stray"', b"7"]
    assert third.parts[0].text == "no message at all"
    assert (fourth.role, fourth.parts[0].text) == (Role.USER, "without a role")


def test_what_postgresql_cannot_hold_stays_in_the_payload_beside_a_readable_copy():
    body = (
        b'{"messages":[{"role":"user","content":[{"type":"text","text":"before\\u0000after"},'
        b'{"type":"text","text":"half \\ud83d end"},{"type":"text","text":"pair \\ud83c\\udf78 ok"},'
        b'{"type":"text","text":"literal \\\\u0000 in docs"},'
        b'{"type":"tool_use","id":"a\\u0000b","name":"f","input":{"\\u0000":1}}]},'
        b'{"role":"user","content":"bare \\u0000"}]}'
    )

    blocks, bare = parsed_and_same(ANTHROPIC, body).messages

    assert [(part.text, part.is_text_copy) for part in blocks.parts] == [
        ("before\ufffdafter", True),
        ("half \ufffd end", True),
        ("pair \U0001f378 ok", False),
        ("literal \\u0000 in docs", False),
        (None, False),
    ]
    assert blocks.parts[0].payload == b'{"type":"text","text":"before\\u0000after"}'
    assert blocks.parts[4].tool_call_id == "a\ufffdb"
    assert (bare.parts[0].payload, bare.parts[0].text) == (b'"bare \\u0000"', "bare \ufffd")


def test_repeated_names_order_and_space_are_kept():
    body = (
        b'{"model":"m-1",  "messages":[{"role":"assistant","content":[{"type":"tool_use","id":"toolu_K1",'
        b'"name":"q","input":{"zeta":1,"alpha":{"z":2,"a":3},"zeta":4}}]}],'
        b'"cache_control":{"type":"ephemeral","ttl":"5m"}}'
    )

    parsed_and_same(ANTHROPIC, body)


def test_empty_is_not_missing():
    listed = messages_of(
        {
            "role": "user",
            "content": [{"type": "text", "text": ""}, {"type": "text", "text": " \n\t "}],
        },
        {"role": "assistant", "content": []},
        {"role": "user", "content": ""},
        {"role": "user", "content": None},
        {"role": "user"},
    )

    assert [[part.text for part in m.parts] for m in listed] == [["", " \n\t "], [], [""], [], []]


@pytest.mark.parametrize("listed", [b'"x"', b"{}", b"null", b"3"])
def test_messages_that_are_no_list_are_an_error_with_its_place(listed):
    with pytest.raises(WireError, match=r"^messages: not a list$"):
        parse_request(b'{"model":"m","messages":' + listed + b"}")


def test_a_body_in_no_known_style_still_gives_exact_pieces():
    body = b'{ "messages" : [ {"role":"user" , "content":"x"} ] , "model":"m" }'

    parsed = parse_request(body)

    assert rendered(parsed) == body
