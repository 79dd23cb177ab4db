"""A call goes where its history says: on, beside, or again."""

import pytest

from conversations.errors import NotFoundError
from conversations.models import Conversation, Generation, HeadMove, Message
from tests.conversations.recording.exchanges import assistant, body, given_back, text, tree, user


def test_a_first_call_starts_a_conversation(record):
    sent = body(user("Where is order 1042?"), system="You help.")

    exchange = record(sent, "On its way.")

    conversation = Conversation.objects.get(id=exchange.conversation_id)
    assert exchange.match == "started"
    assert tree(exchange.conversation_id) == [
        (1, None, "user", "continue", ["Where is order 1042?"]),
        (2, 1, "assistant", "continue", ["On its way."]),
    ]
    assert (conversation.head_seq, conversation.source) == (2, "recorded")
    assert (exchange.leaf_seq, exchange.answer_seq, exchange.new_seqs) == (1, 2, (1, 2))
    assert given_back(exchange) == sent


def test_the_attempt_keeps_model_tokens_and_cost(record):
    exchange = record(body(user("Hi")), api_version="2023-06-01", beta_headers="context-1m")

    attempt = Generation.objects.get(conversation_id=exchange.conversation_id)
    assert (attempt.requested_model, attempt.served_model) == ("claude-sonnet-4-6", "claude-sonnet-4-6")
    assert (attempt.uncached_input_tokens, attempt.output_tokens) == (100, 20)
    assert (str(attempt.cost_usd), attempt.cost_confidence) == ("0.000600000", "exact")
    assert (attempt.api_version, attempt.beta_headers) == ("2023-06-01", "context-1m")
    assert (attempt.leaf_seq, attempt.message_seq, attempt.status) == (1, 2, "complete")


def test_a_call_that_goes_on_adds_only_what_is_new(record):
    first = record(body(user("Hi")), "Hello.")

    second = record(body(user("Hi"), assistant("Hello."), user("And now?")), "Then.", after=first)

    assert second.match == "continued"
    assert second.new_seqs == (3, 4)
    assert [row[:3] for row in tree(first.conversation_id)] == [
        (1, None, "user"),
        (2, 1, "assistant"),
        (3, 2, "user"),
        (4, 3, "assistant"),
    ]
    assert [move.reason for move in HeadMove.objects.order_by("number")] == ["append", "append"]


@pytest.mark.parametrize(
    "echo",
    [
        pytest.param([assistant("Hello. ")], id="trimmed or not"),
        pytest.param([assistant(text("Hello.", citations=None))], id="nulls"),
        pytest.param([assistant(text("Hel"), text("lo."))], id="split blocks"),
        pytest.param([assistant("Hel"), assistant("lo.")], id="split messages"),
        pytest.param([assistant(text("Hello."), text(" "))], id="blank text"),
        pytest.param([assistant(text("Hello.", cache_control={"type": "ephemeral"}))], id="cache mark"),
    ],
)
def test_an_echo_that_differs_in_form_is_the_same_history(record, echo):
    first = record(body(user("Hi")), "Hello.")
    sent = body(user("Hi"), *echo, user("And now?"))

    second = record(sent, "Then.", after=first)

    assert (second.match, second.new_seqs) == ("continued", (3, 4))
    assert given_back(first, 2) == sent


def test_an_edited_question_is_a_branch_beside_the_first(record):
    first = record(body(user("Buy plan A")), "Done.")

    second = record(body(user("Buy plan B")), "Done too.", after=first)

    conversation = Conversation.objects.get(id=first.conversation_id)
    assert second.match == "branched"
    assert tree(first.conversation_id)[2:] == [
        (3, None, "user", "user_edit", ["Buy plan B"]),
        (4, 3, "assistant", "continue", ["Done too."]),
    ]
    assert (conversation.head_seq, conversation.has_fork) == (4, True)
    assert HeadMove.objects.get(number=2).reason == "user_edit"


def test_a_rewritten_answer_is_a_branch_of_the_client(record):
    first = record(body(user("Hi")), "Hello.")

    second = record(body(user("Hi"), assistant("Good day."), user("And now?")), after=first)

    assert second.match == "branched"
    assert tree(first.conversation_id)[2][:4] == (3, 1, "assistant", "client_rewrite")


def test_the_same_body_after_an_answer_is_a_regenerate(record):
    first = record(body(user("Hi")), "Hello.")

    second = record(body(user("Hi")), "Good day.", after=first)

    assert tree(first.conversation_id)[2:] == [(3, 1, "assistant", "regenerate", ["Good day."])]
    assert (second.match, second.leaf_seq, second.attempt) == ("continued", 1, 1)
    assert second.request_id != first.request_id
    assert HeadMove.objects.get(number=2).reason == "regenerate"


def test_the_same_body_after_a_failure_is_the_next_attempt_of_its_request(record):
    overloaded = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
    first = record(body(user("Hi")), overloaded, http_status=529)

    second = record(body(user("Hi")), "Hello.", after=first)

    assert (first.status, first.answer_seq, first.attempt) == ("failed", None, 1)
    assert (second.request_id, second.attempt) == (first.request_id, 2)
    assert [row[:3] for row in tree(first.conversation_id)] == [(1, None, "user"), (2, 1, "assistant")]


def test_a_request_id_of_the_caller_counts_its_attempts(record):
    first = record(body(user("Hi"), temperature=1), None, request_id="act-1")

    second = record(body(user("Hi"), temperature=0), "Hello.", after=first, request_id="act-1")

    assert [(e.request_id, e.attempt) for e in (first, second)] == [("act-1", 1), ("act-1", 2)]


def test_another_accounts_conversation_is_refused_and_nothing_is_written(record, make_account):
    first = record(body(user("Hi")), "Hello.")

    with pytest.raises(NotFoundError, match="the account has no such conversation"):
        record(body(user("Hi")), after=first, account=make_account())

    assert Message.objects.count() == 2
    assert Generation.objects.count() == 1


def test_a_prefill_and_its_answer_are_one_turn(record):
    first = record(body(user("A poem"), assistant("Roses are")), "red.")

    second = record(body(user("A poem"), assistant("Roses arered."), user("More")), after=first)

    assert [row[2] for row in tree(first.conversation_id)][:3] == ["user", "assistant", "assistant"]
    assert (second.match, second.new_seqs) == ("continued", (4, 5))


def test_words_merged_into_a_known_message_add_only_the_rest(record):
    first = record(body(user("One.")), None)
    sent = body(user(text("One."), text("Two.")))

    record(sent, "Both.", after=first)

    assert tree(first.conversation_id) == [
        (1, None, "user", "continue", ["One."]),
        (2, 1, "user", "continue", ["Two."]),
        (3, 2, "assistant", "continue", ["Both."]),
    ]
    assert given_back(first, 2) == sent


def test_a_blank_message_that_is_new_is_kept(record):
    first = record(body(user("Hi")), "Hello.")
    sent = body(user("Hi"), assistant("Hello."), user(" "))

    second = record(sent, "Yes?", after=first)
    again = record(sent, "Well?", after=first)

    assert second.new_seqs == (3, 4)
    assert (again.new_seqs, again.leaf_seq) == ((5,), 3)
