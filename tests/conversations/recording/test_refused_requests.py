"""What the provider refused, and what is no conversation at all."""

import pytest

from conversations.models import Generation, Message, RawBody
from conversations.vocabulary import Dialect
from tests.conversations.recording.exchanges import assistant, body, given_back, refusal, user


def test_a_body_that_is_no_conversation_is_kept_whole_below_nothing(record):
    sent = b'{"model": "claude-sonnet-4-6", "messages": "\xff'

    exchange = record(sent, refusal(), http_status=400)

    attempt = Generation.objects.get()
    raw = RawBody.objects.get(id=attempt.raw_request_id)
    assert (exchange.match, exchange.proof, exchange.leaf_seq) == ("unplaced", "verbatim", None)
    assert (attempt.status, attempt.error_code) == ("failed", "invalid_request_error")
    assert "not valid UTF-8" in attempt.notes[0]
    assert (raw.raw_class, raw.account_id) == ("request", attempt.conversation.account_id)
    assert Message.objects.count() == 0
    assert given_back(exchange) == sent


def test_a_refused_request_stands_as_what_was_asked_and_was_not_answered(record):
    first = record(body(user("Hi")), "Hello.")
    sent = body(user("Hi"), assistant("Hello."), user(""))

    second = record(sent, refusal(), after=first, http_status=400)

    assert (second.status, second.answer_seq, second.leaf_seq) == ("failed", None, 3)
    assert second.violations[0].rule == "text-not-blank"
    assert given_back(first, 2) == sent


@pytest.mark.parametrize(
    "sent", [b"", b"null", b"[]", b'"x"', b"{}", b'{"messages":[]}', b'{"messages":[1,null,"x"]}']
)
def test_whatever_is_sent_is_kept(record, sent):
    exchange = record(sent, refusal(), http_status=400)

    assert given_back(exchange) == sent


def test_error_texts_with_nul_are_kept_readable(record):
    record(body(user("Hi")), refusal("bad \x00 byte"), http_status=400)

    assert Generation.objects.get().error_message == "bad \ufffd byte"


@pytest.mark.parametrize("previous", [r"\ud83d", r"\u0000", "r" * 5000])
def test_an_id_of_the_provider_that_no_column_holds_is_still_looked_up(record, previous):
    sent = f'{{"model":"gpt-4o","input":"Hi","previous_response_id":"{previous}"}}'.encode()

    exchange = record(sent, None, dialect=Dialect.OPENAI_RESPONSES)

    assert exchange.match == "started"
    assert given_back(exchange) == sent
