"""What a message may be made of: typed parts, or the provider's own blocks."""

import json

import pytest

from conversations.models import Message
from tests.api.answers import post_raw, refusal
from tests.api.conversations.talking import call, parts_of, text

pytestmark = pytest.mark.django_db


def test_raw_blocks_are_kept_byte_for_byte(talk):
    block = '{"type": "text",  "text": "caf\\u00e9", "citations": [], "n": 1.10}'
    talk.append({"block": block}, role="assistant", dialect="anthropic_messages")
    [part] = parts_of(talk, 1)
    assert (part["block"], part["text"]) == (block, "café")


def test_blocks_given_as_objects_keep_every_number(talk):
    raw = (
        b'{"role":"assistant","dialect":"anthropic_messages","parts":[{"block":{"type":"tool_use","id":"t1",'
        b'"name":"pay","input":{"amount":12345678901234567890.10,"rate":1e2}}}]}'
    )
    answer = post_raw(talk.client, f"{talk.url}/messages", raw)
    assert answer.status_code == 201
    [part] = parts_of(talk, 1)
    assert '"amount":12345678901234567890.10,"rate":1e2' in part["block"]


@pytest.mark.parametrize(
    "words", ["", " ", "nul \x00 in it", "half \ud800 pair", "\u202eright to left", "🦊" * 5_000, "a\nb\r\n"]
)
def test_whatever_was_said_is_kept(talk, words):
    body = {"parts": [text(words)], "client_message_id": "m-1"}
    for status in (201, 200):
        answer = post_raw(talk.client, f"{talk.url}/messages", body)
        assert answer.status_code == status, answer.json()
    [part] = parts_of(talk, 1)
    said = part["text"] if part["block"] is None else json.loads(part["block"])["text"]
    assert said == words


def test_an_image_above_32_kb_is_told_at_the_messages_own_address(talk):
    data = "iVBORw0K" * 10_000
    talk.append({"type": "image", "media_type": "image/png", "data": data}, dialect="openai_chat")
    [told] = talk.get().json()["path"][0]["parts"]
    assert (told["type"], told["is_large"], told["block"], told["media_type"]) == (
        "image",
        True,
        None,
        "image/png",
    )
    [whole] = parts_of(talk, 1)
    assert (whole["is_large"], whole["size"]) == (False, len(whole["block"]))
    assert json.loads(whole["block"]) == {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,{data}"},
    }


@pytest.mark.parametrize(
    ("part", "pointer"),
    [
        ({}, "#/parts/0"),
        ({"type": "text"}, "#/parts/0/text"),
        ({"type": "thinking", "text": "hm"}, "#/parts/0/type"),
        ({"type": "text", "text": 7, "block": {}}, "#/parts/0"),
        ({"type": "text", "text": ["a"]}, "#/parts/0/text"),
        ({"type": "tool_use", "tool_call_id": "a"}, "#/parts/0/tool_name"),
        ({"type": "image"}, "#/parts/0"),
        ({"type": "image", "data": "aGk="}, "#/parts/0/media_type"),
        ({"type": "image", "media_type": "image/png", "data": "§"}, "#/parts/0/data"),
        ({"block": 7}, "#/parts/0/block"),
        ({"block": ""}, "#/parts/0/block"),
    ],
)
def test_a_part_that_cannot_be_taken_is_named(talk, part, pointer):
    answer = talk.post("/messages", {"parts": [part]})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    "block",
    [
        "not json",
        "[]",
        '{"type":"text","text":"a"}}],"messages":[{"role":"user","content":"b"',
        '{"type":"text","text":"a"},{"type":"text","text":"b"}',
        '{"a":' * 100_000 + "1" + "}" * 100_000,
    ],
)
def test_a_block_that_is_no_single_object_is_refused(talk, block):
    answer = talk.post("/messages", {"parts": [{"block": block}], "dialect": "anthropic_messages"})
    assert answer.status_code == 422
    assert answer.json()["rule"] == "blocks-unfit"
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b'{"parts":[{"type":"text","text":"a"}],"token_count":' + b"9" * 5_000 + b"}", 400),
        (b'{"parts":[{"type":"text","text":"a"}],"token_count":NaN}', 400),
        (b'{"parts":' + b"[" * 100_000, 400),
        (b'{"parts":' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400),
        (b'{"parts":"' + b"\xff" + b'"}', 400),
        (b"", 400),
        (b"null", 400),
        (b'{"parts":[],"role":"robot"}', 400),
        (b'{"parts":[]}', 201),
        (b'{"parts":[{"block":{"type":"\\u0000","x":NaN}}],"dialect":"openai_responses"}', 422),
    ],
)
def test_hostile_bodies_are_refused_in_good_order(talk, raw, status):
    answer = post_raw(talk.client, f"{talk.url}/messages", raw)
    assert answer.status_code == status, answer.content[:500]


def test_what_the_provider_would_refuse_is_refused(talk):
    answer = talk.post("/messages", {"parts": [text("I call"), call()], "dialect": "anthropic_messages"})
    assert refusal(answer) == (422, "calls-by-assistant")
    assert answer.json()["place"].endswith("new message, block 1")
