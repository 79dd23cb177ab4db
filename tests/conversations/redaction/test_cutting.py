import json

import pytest

from conversations.redaction.cutting import cut_body, cut_text
from conversations.vocabulary import SecretKind
from conversations.wire.openai_chat import parse_response

CARDS = frozenset({SecretKind.CARD})
EVERY = frozenset(SecretKind)
MARK = "[cut: card number]"
CARD = "4242424242424242"


def cut(body: bytes) -> bytes:
    return cut_body(body, kinds=CARDS).body


def test_a_body_without_secrets_is_the_same_bytes():
    body = b'{"a" : [1.50, "\\u00e9", "order 1042"]}\n'

    assert cut_body(body, kinds=CARDS).body is body


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f'{{"text":"pay {CARD} now"}}', f'{{"text":"pay {MARK} now"}}'),
        (f'{{"number": {CARD}}}', f'{{"number": "{MARK}"}}'),
        (f'{{"say":"\\u00fc {CARD}"}}', f'{{"say":"ü {MARK}"}}'),
        (f'{{"arguments":"{{\\"card\\":\\"{CARD}\\"}}"}}', f'{{"arguments":"{{\\"card\\":\\"{MARK}\\"}}"}}'),
        (f'{{"arguments":"{{\\"card\\": {CARD}}}"}}', f'{{"arguments":"{{\\"card\\": \\"{MARK}\\"}}"}}'),
        (f"no JSON {CARD}", f'no JSON "{MARK}"'),
    ],
)
def test_json_stays_json_and_the_rest_stays_as_it_was(body, expected):
    assert cut(body.encode()).decode() == expected


@pytest.mark.parametrize("depth", range(4))
@pytest.mark.parametrize("is_ascii", [True, False])
def test_json_within_strings_is_cut_as_deep_as_it_goes(depth, is_ascii):
    """A line's end is a letter there, and a web page's blank four digits: no word would begin behind them."""
    words = (
        "Pay to:\nDE89370400440532013000\nor 4242\u00a04242\u00a04242\u00a04242\u00a0by\n" + "sk-" + "a" * 24
    )

    def wrapped(said):
        for _ in range(depth):
            said = json.dumps({"said": said}, ensure_ascii=is_ascii)
        return json.dumps({"arguments": said}, ensure_ascii=is_ascii).encode()

    found = json.loads(cut_body(wrapped(words), kinds=EVERY).body)["arguments"]
    for _ in range(depth):
        found = json.loads(found)["said"]
    assert found == "Pay to:\n[cut: bank account]\nor [cut: card number]\u00a0by\n[cut: key]"


def test_a_body_that_breaks_off_is_cut_as_if_it_had_not():
    body = b'{"said":"\\nDE89370400440532013000 and\\u00a04242\\u00a04242\\u00a04242\\u00a04242\\u0'

    assert (
        cut_body(body, kinds=EVERY).body
        == b'{"said":"\\n[cut: bank account] and\\u00a0[cut: card number]\\u0'
    )


def test_spans_say_where_the_marks_stand():
    body = cut_body(f'{{"text":"pay {CARD} now"}}'.encode(), kinds=CARDS)

    (span,) = body.spans
    assert body.body.decode()[span.start : span.end] == MARK


def frame(text: str, index: int = 0) -> str:
    event = {
        "type": "content_block_delta",
        "index": index,
        "delta": {"type": "text_delta", "text": text},
    }
    return f"event: content_block_delta\ndata: {json.dumps(event)}\n\n"


def said(stream: bytes, index: int = 0) -> str:
    events = [json.loads(line[6:]) for line in stream.decode().splitlines() if line.startswith("data: ")]
    return "".join(event["delta"]["text"] for event in events if event["index"] == index)


def test_a_number_that_is_spread_over_frames_is_cut():
    pieces = ["Your card ", "4242 42", "42 4242 ", "4242 is", " kept."]
    stream = "".join(frame(piece) for piece in pieces).encode()

    cut_stream = cut(stream)

    assert said(cut_stream) == f"Your card {MARK} is kept."
    assert b"4242" not in cut_stream


def test_two_blocks_that_arrive_together_are_two_texts():
    stream = "".join([frame("4242 4242 "), frame("4242 4242 ", 1), frame("and more"), frame("and more", 1)])

    assert cut(stream.encode()) == stream.encode()


def test_calls_whose_arguments_come_in_the_same_frames_are_texts_of_their_own():
    def chunk(*pieces):
        calls = [{"index": n, "function": {"arguments": piece}} for n, piece in enumerate(pieces)]
        return {"choices": [{"delta": {"tool_calls": calls}, "index": 0}]}

    pieces = [('{"card":4242', '{"to":"a\\nsk-'), ("42424242", "a" * 24), ("4242", '"}')]
    last = {"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}}
    ended = {"choices": [last | {"finish_reason": "tool_calls"}]}
    events = [*(chunk(*both) for both in pieces), ended]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()

    answer = parse_response(cut_body(stream, kinds=EVERY).body, 200)

    arguments = [json.loads(part.payload)["function"]["arguments"] for part in answer.message.parts]
    assert [json.loads(each) for each in arguments] == [{"card": MARK}, {"to": "a\n[cut: key]"}]


def test_a_number_that_is_spread_over_bare_objects_on_lines_is_cut():
    deltas = [{"type": "text_delta", "text": piece} for piece in ("4242 42", "42 4242 ", "4242")]
    events: list[dict] = [{"type": "message_start", "message": {"id": "msg_1"}}]
    events += [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
    stream = "\n".join(json.dumps(event) for event in events).encode()

    assert b"4242" not in cut(stream)


@pytest.mark.parametrize("begin", ['{"text":"', 'data: {"index":0,"text":"'])
def test_a_string_that_breaks_off_is_read_once_and_cut(begin):
    """A megabyte of escaped quotes: read on from each of them, it would take hours."""
    said = '\\"' * 2**19
    body = f"{begin}{said} {CARD} "

    assert cut(body.encode()).decode() == f"{begin}{said} {MARK} "


def test_bytes_that_are_no_text_come_through():
    assert cut(b'{"a":"\xff\xfe ' + CARD.encode() + b'"}').startswith(b'{"a":"')


@pytest.mark.parametrize("secret", ["4242424242424242", "DE89370400440532013000", "sk-" + "a" * 24])
@pytest.mark.parametrize("around", ["{}", "a {} b", "-{}", "{}.", "x{}", "{}7", '"{}"', "\\{}", "ü{}\n"])
def test_a_body_is_cut_where_each_of_its_texts_would_be(secret, around):
    """One look at a whole body that escapes nothing finds what a look at each literal finds."""
    said = around.format(secret)
    for is_ascii in (True, False):
        body = json.dumps({"content": [said, "and"], "n": 1}, ensure_ascii=is_ascii).encode()

        cut = json.loads(cut_body(body, kinds=EVERY).body)

        assert cut == {"content": [cut_text(said, kinds=EVERY).text, "and"], "n": 1}
