"""Each attempt of an SDK is an exchange of its own, and one request."""

import anthropic
import pytest

from conversations.models import Conversation, Exchange, Generation
from counterfoil_recorder import recording
from evidence.replay_server import Reply
from tests.client.conftest import ask, claude_of, message
from tests.client.recorded import generations, recorded_by

BUSY = Reply(
    b'{"type": "error", "error": {"type": "overloaded_error"}}',
    status=529,
    headers={"retry-after-ms": "1"},
)


def test_each_attempt_of_an_sdk_is_an_exchange_of_its_own(recorder, provider):
    provider.answer = BUSY
    client = claude_of(recorder, provider, max_retries=2)
    with recording(account="customer-7", request_id="ask-1"), pytest.raises(anthropic.APIStatusError):
        ask(client)

    attempts = [(it.request_id, it.attempt, it.http_status, it.status) for it in recorded_by(recorder)]
    assert attempts == [("ask-1", number, 529, "failed") for number in (1, 2, 3)]
    assert Exchange.objects.count() == 3


def test_the_attempts_of_one_call_are_one_request_whoever_names_it(recorder, provider):
    replies = iter([BUSY, BUSY, Reply(message())])
    provider.find = lambda name: next(replies)
    ask(claude_of(recorder, provider, max_retries=2))

    assert recorder.flush()
    conversation = Conversation.objects.get()
    found = [(it.conversation_id, it.attempt, it.status) for it in generations()]
    assert found == [
        (conversation.pk, 1, "failed"),
        (conversation.pk, 2, "failed"),
        (conversation.pk, 3, "complete"),
    ]
    assert Generation.objects.values("request_id").distinct().count() == 1
