"""Scopes: what is not said inside is taken from outside, and a customer's things never pass to another."""

import contextvars
import threading

import pytest

from counterfoil_recorder import carried, recording
from counterfoil_recorder.dialects import dialect_of
from counterfoil_recorder.scopes import current_scope


def test_what_is_not_given_is_taken_from_the_scope_around():
    with recording(account="a", conversation="c", prompt_version="p"):
        with recording(request_id="r") as inner:
            told = (inner.account, inner.conversation, inner.prompt_version, inner.request_id)
            assert told == ("a", "c", "p", "r")
        assert current_scope().request_id == ""
    assert current_scope() is None


def test_another_account_takes_nothing_of_the_customer_around_it():
    with (
        recording(
            account="a", label="Ada", email="a@x", conversation="c", request_id="r", prompt_version="p"
        ),
        recording(account="b") as inner,
    ):
        told = (inner.account, inner.label, inner.email, inner.conversation, inner.request_id)
        assert told == ("b", "", "", "", "")
        assert inner.prompt_version == "p"


def test_a_conversation_is_named_in_one_way():
    with recording(account="a", conversation="c"), recording(conversation_id="0190") as inner:
        assert (inner.conversation, inner.conversation_id) == ("", "0190")
    with pytest.raises(ValueError, match="not both"), recording(conversation="c", conversation_id="0190"):
        pass
    assert current_scope() is None


def test_a_scope_that_ends_in_another_context_harms_nobody():
    def end_elsewhere():
        scope = recording(account="a")
        scope.__enter__()
        thread = threading.Thread(target=scope.__exit__, args=(None, None, None))
        thread.start()
        thread.join()
        assert current_scope().account == "a"

    # In a context of its own, which takes the scope that nothing ends there with it.
    contextvars.copy_context().run(end_elsewhere)
    assert current_scope() is None


def test_a_carried_function_runs_in_its_scope_in_many_threads_at_once():
    seen = []
    barrier = threading.Barrier(4)

    def look(name):
        barrier.wait()
        seen.append((name, current_scope().account))

    with recording(account="a"):
        bound = carried(look)
    threads = [threading.Thread(target=bound, args=(name,)) for name in "wxyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(seen) == [(name, "a") for name in "wxyz"]


@pytest.mark.parametrize(
    ("method", "path", "dialect"),
    [
        ("POST", "/v1/messages", "anthropic_messages"),
        ("POST", "/gateway/anthropic/v1/messages/", "anthropic_messages"),
        ("POST", "/v1/chat/completions", "openai_chat"),
        ("POST", "/openai/deployments/gpt/chat/completions", "openai_chat"),
        ("POST", "/v1/responses", "openai_responses"),
        ("GET", "/v1/responses", None),
        ("POST", "/v1/messages/count_tokens", None),
        ("POST", "/v1/messages/batches", None),
        ("POST", "/v1/threads/thread_1/messages", None),
        ("POST", "/v1/responses/compact", None),
        ("POST", "/v1/embeddings", None),
    ],
)
def test_only_conversations_are_recorded(method, path, dialect):
    assert dialect_of(method, path) == dialect
