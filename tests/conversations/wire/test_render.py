import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.drafts import MessageDraft, PartDraft
from conversations.vocabulary import Dialect, PartType, Role
from conversations.wire.dialects import module_for
from conversations.wire.render import render_messages, render_request
from conversations.wire.shapes import COMPACT, SPACED, Style, WireError
from conversations.wire.shells import FORM_STRING
from tests.conversations.wire.bodies import rendered

A, C, R = Dialect.ANTHROPIC_MESSAGES, Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES
STYLES = [
    COMPACT,
    SPACED,
    Style(comma=",", colon=":", is_ascii=True),
    Style(comma=", ", colon=": ", is_ascii=False),
]
LISTS = {A: "messages", C: "messages", R: "input"}

# Names that mean something in some dialect, so that what is generated goes down every way.
NAMES = st.sampled_from(
    [
        "type", "role", "content", "text", "id", "name", "input", "tool_use_id", "tool_call_id", "call_id",
        "tool_calls", "function", "arguments", "function_call", "refusal", "audio", "transcript", "thinking",
        "output", "summary", "is_error", "source", "media_type", "reasoning_content", "x", "", 'q"uote',
    ]
)  # fmt: skip
WORDS = st.sampled_from(
    [
        "user", "assistant", "system", "developer", "tool", "function", "model", "text", "input_text",
        "output_text", "tool_use", "tool_result", "thinking", "image", "refusal", "message", "reasoning",
        "function_call", "function_call_output", "shell_call", "shell_call_output", "custom", "",
    ]
)  # fmt: skip
TEXTS = st.one_of(WORDS, st.text(), st.text(st.characters(), max_size=5))
SCALARS = st.one_of(
    TEXTS, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=5)),
    max_leaves=12,
)
BLOCKS = st.fixed_dictionaries({"type": WORDS}, optional={"text": TEXTS, "id": TEXTS, "content": VALUES})
MESSAGES = st.fixed_dictionaries(
    {"role": WORDS},
    optional={
        "content": st.one_of(TEXTS, st.lists(st.one_of(BLOCKS, VALUES), max_size=4)),
        "tool_calls": VALUES,
    },
)


def write(value: object, style: Style) -> bytes:
    separators = (style.comma, style.colon)
    text = json.dumps(value, separators=separators, ensure_ascii=style.is_ascii)
    return text.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("dialect", Dialect)
@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.one_of(MESSAGES, VALUES), max_size=5), st.dictionaries(NAMES, VALUES, max_size=3), st.data()
)
def test_any_body_in_a_known_style_comes_back_byte_for_byte(dialect, messages, members, data):
    style = data.draw(st.sampled_from(STYLES))
    body = write({"model": "m", **members, LISTS[dialect]: messages}, style)

    try:
        parsed = module_for(dialect).parse_request(body)
    except WireError:
        # Raw halves of surrogate pairs are no UTF-8: nothing else may be refused.
        assert body.decode("utf-8", "replace").encode() != body
        return

    assert parsed.style[:2] == style[:2]
    assert rendered(parsed) == body


@pytest.mark.parametrize("dialect", Dialect)
@settings(max_examples=100, deadline=None)
@given(
    st.lists(MESSAGES, max_size=4),
    st.lists(st.tuples(st.integers(0, 400), st.sampled_from(" \t\r\n")), max_size=8),
)
def test_a_body_with_white_space_anywhere_keeps_its_value(dialect, messages, spaces):
    body = write({"model": "m", LISTS[dialect]: messages}, COMPACT)
    for position, space in spaces:
        body = _insert_between_tokens(body, position, space)

    try:
        parsed = module_for(dialect).parse_request(body)
    except WireError:
        assert body.decode("utf-8", "replace").encode() != body
        return

    assert json.loads(rendered(parsed)) == json.loads(body)


def _insert_between_tokens(body: bytes, position: int, space: str) -> bytes:
    """Put the space behind the first comma, colon or bracket outside strings from `position` on."""
    in_string = is_escaped = False
    for place, letter in enumerate(body):
        if is_escaped:
            is_escaped = False
        elif letter == ord("\\"):
            is_escaped = in_string
        elif letter == ord('"'):
            in_string = not in_string
        elif not in_string and place >= position and letter in b",:[]{}":
            return body[: place + 1] + space.encode() + body[place + 1 :]
    return body


@pytest.mark.parametrize("dialect", Dialect)
@settings(max_examples=100, deadline=None)
@given(
    st.one_of(st.binary(max_size=60), st.lists(MESSAGES, max_size=2).map(lambda m: write(m, COMPACT))),
    st.data(),
)
def test_any_bytes_are_cut_or_refused_and_nothing_else(dialect, noise, data):
    whole = write({"model": "m", LISTS[dialect]: [{"role": "user", "content": "hi"}]}, COMPACT)
    place = data.draw(st.integers(0, len(whole)))
    body = data.draw(st.sampled_from([noise, whole[:place] + noise, whole[:place] + noise + whole[place:]]))

    try:
        parsed = module_for(dialect).parse_request(body)
    except WireError:
        return

    assert json.loads(rendered(parsed).removeprefix(b"\xef\xbb\xbf")) == json.loads(body)


STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
TEXT_PARTS = STORABLE.map(lambda words: PartDraft(PartType.TEXT, text=words))


def call_part(dialect: Dialect, number: int, words: str) -> PartDraft:
    arguments = {"q": words}
    block: dict[str, object] = {"type": "tool_use", "id": f"c{number}", "name": "f", "input": arguments}
    if dialect == C:
        function = {"name": "f", "arguments": json.dumps(arguments)}
        block = {"id": f"c{number}", "type": "function", "function": function}
    elif dialect == R:
        block = {
            "type": "function_call",
            "call_id": f"c{number}",
            "name": "f",
            "arguments": json.dumps(arguments),
        }
    payload = write(block, COMPACT)
    return PartDraft(PartType.TOOL_USE, payload=payload, tool_call_id=f"c{number}", tool_name="f")


@st.composite
def dialogues(draw, dialect):
    """Drafts as they are composed: a user's texts, an assistant's texts and calls, in turn."""
    messages = []
    for turn in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            messages.append(MessageDraft(Role.USER, [draw(TEXT_PARTS)], shell=FORM_STRING))
        else:
            messages.append(MessageDraft(Role.USER, draw(st.lists(TEXT_PARTS, max_size=3))))
        calls = [call_part(dialect, n, draw(STORABLE)) for n in range(draw(st.integers(0, 2)))]
        texts = draw(st.lists(TEXT_PARTS, min_size=1, max_size=1 if calls else 3))
        messages.append(MessageDraft(Role.ASSISTANT, [*texts, *calls]))
        messages[-2].wire_index, messages[-1].wire_index = 2 * turn, 2 * turn + 1
    return messages


@pytest.mark.parametrize("dialect", Dialect)
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_composed_messages_are_parsed_back_equal_in_either_style(dialect, data):
    messages = data.draw(dialogues(dialect))
    envelope = b'{"model":"m","' + LISTS[dialect].encode() + b'":[\x01]}'

    body = render_request(envelope, messages, dialect=dialect, style=COMPACT)

    parsed = module_for(dialect).parse_request(body)
    for message in parsed.messages:
        message.wire_index = None
    for message in messages:
        message.wire_index = None
    assert parsed.messages == messages


def test_a_stored_message_is_written_in_the_style_of_the_request_it_goes_into():
    message = MessageDraft(
        Role.USER, [PartDraft(PartType.TEXT, text="é"), PartDraft(PartType.TEXT, text="b")]
    )

    compact_body = render_messages([message, message], dialect=A, style=COMPACT)
    spaced_body = render_messages([message], dialect=A, style=SPACED)

    assert compact_body == (
        '{"role":"user","content":[{"type":"text","text":"é"},{"type":"text","text":"b"}]},'.encode() * 2
    ).removesuffix(b",")
    assert spaced_body == (
        b'{"role": "user", "content": [{"type": "text", "text": "\\u00e9"}, {"type": "text", "text": "b"}]}'
    )


def test_a_part_whose_bytes_are_gone_cannot_be_rendered():
    message = MessageDraft(Role.USER, [PartDraft(PartType.IMAGE)])

    with pytest.raises(WireError, match="the bytes of a image part are gone"):
        render_messages([message], dialect=A, style=COMPACT)


@pytest.mark.parametrize("dialect", Dialect)
def test_an_envelope_without_pieces_takes_none(dialect):
    body = render_request(b'{"model":"m"}', [], dialect=dialect, style=COMPACT)

    assert body == b'{"model":"m"}'
