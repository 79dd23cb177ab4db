import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conversations.reads.path import path_seqs, read_path
from conversations.replay import request_body_of
from conversations.vocabulary import Dialect
from tests.conversations.recording.exchanges import answer

# The account and the realm are the same for every example; each starts conversations of its own.
in_one_database = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

names = st.text(st.characters(codec="utf-8"), max_size=8)
words = st.text(max_size=40)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
blocks = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, words),
    st.builds(lambda text: {"text": text, "type": "text", "citations": None}, words),
    st.builds(lambda text: {"type": "thinking", "thinking": text, "signature": "c2ln"}, words),
    st.builds(
        lambda call_id, value: {"type": "tool_use", "id": call_id, "name": "q", "input": value},
        st.sampled_from(["t1", "t2", "t3"]),
        json_values,
    ),
    st.builds(
        lambda call_id, value: {"type": "tool_result", "tool_use_id": call_id, "content": value},
        st.sampled_from(["t1", "t2", "t3"]),
        json_values,
    ),
    st.builds(lambda value: {"type": "novel_block", "value": value}, json_values),
    st.dictionaries(names, json_values, max_size=3),
)
messages = st.lists(
    st.builds(
        lambda role, content: {"role": role, "content": content},
        st.sampled_from(["user", "assistant", "system", "tool"]),
        st.one_of(words, st.lists(blocks, max_size=4)),
    ),
    max_size=6,
)
writers = st.sampled_from(
    [
        lambda value: json.dumps(value).encode(),
        lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "surrogatepass"
        ),
        lambda value: json.dumps(value, indent=1, sort_keys=True).encode(),
    ]
)


@pytest.mark.parametrize("dialect", list(Dialect))
@in_one_database
@given(listed=messages, write=writers)
def test_any_messages_come_back_as_the_bytes_they_were(record, dialect, listed, write):
    key = "input" if dialect == Dialect.OPENAI_RESPONSES else "messages"
    sent = write({"model": "m", key: listed})

    exchange = record(sent, answer("x"), dialect=dialect, exchange_id="")

    assert (
        request_body_of(conversation_id=exchange.conversation_id, number=exchange.generation_number) == sent
    )


@in_one_database
@given(sent=st.one_of(st.binary(max_size=200), json_values.map(lambda value: json.dumps(value).encode())))
def test_any_bytes_come_back(record, sent):
    exchange = record(sent, None)

    assert (
        request_body_of(conversation_id=exchange.conversation_id, number=exchange.generation_number) == sent
    )


turns = st.lists(
    st.tuples(st.sampled_from(["go on", "edit", "again", "window"]), words), min_size=1, max_size=8
)


@in_one_database
@given(turns=turns)
def test_whatever_the_client_does_every_body_comes_back_and_the_head_is_the_last_answer(record, turns):
    history: list[dict] = []
    first, sent = None, []
    for action, said in turns:
        if action == "edit" and len(history) > 1:
            history = [*history[:-2], {"role": "user", "content": f"{said}?"}]
        elif action == "again" and history:
            history = history[:-1]
        else:
            history = [*history, {"role": "user", "content": f"{said}!"}]
        shown = history[-3:] if action == "window" else history
        body = json.dumps({"model": "m", "messages": shown}).encode()
        exchange = record(body, answer(f"re: {said}"), after=first)
        first = first or exchange
        sent.append((exchange, body))
        history = [*history, {"role": "assistant", "content": f"re: {said}"}]

    for exchange, body in sent:
        assert (
            request_body_of(conversation_id=exchange.conversation_id, number=exchange.generation_number)
            == body
        )
    last = sent[-1][0]
    path = path_seqs(conversation_id=last.conversation_id, leaf_seq=last.answer_seq)
    assert path[-2:] == [last.leaf_seq, last.answer_seq]


@in_one_database
@given(listed=messages)
def test_any_tree_of_parts_goes_in_and_comes_out_equal(record, make_account, listed):
    sent = json.dumps({"model": "m", "messages": listed}).encode()
    # An account's first call finds no history to go on from.
    exchange = record(sent, answer("x"), account=make_account())

    stored = read_path(conversation_id=exchange.conversation_id, leaf_seq=exchange.answer_seq)

    assert (exchange.match, len(stored)) == ("started", len(exchange.request.messages) + 1)
    for message, draft in zip(stored, exchange.request.messages, strict=False):
        assert message.draft.role == draft.role
        assert message.draft.shell == draft.shell
        assert message.draft.parts == draft.parts
