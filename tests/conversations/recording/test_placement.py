import json

import pytest

from conversations.errors import NotFoundError
from conversations.models import Conversation, Generation, HeadMove, Message
from conversations.replay import request_body_of
from conversations.vocabulary import Dialect
from tests.conversations.recording.exchanges import answer, assistant, body, call, result, text, tree, user


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
    assert request_body_of(conversation_id=exchange.conversation_id, number=1) == sent


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
    assert request_body_of(conversation_id=first.conversation_id, number=2) == sent


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


def test_without_a_name_a_first_question_tried_again_is_one_conversation(record, make_account):
    failed = record(body(user("Hi")), None, request_id="ask-1")
    again = record(body(user("Hi")), "Hello.", request_id="ask-1")
    other_words = record(body(user("Bye")), None, request_id="ask-1")
    once_more = record(body(user("Hi")), None, request_id="ask-1")
    of_another = record(body(user("Bye")), None, request_id="ask-1", account=make_account())

    assert (again.conversation_id, again.attempt) == (failed.conversation_id, 2)
    assert Message.objects.filter(conversation=failed.conversation_id).count() == 2
    conversations = {it.conversation_id for it in (failed, other_words, of_another)}
    assert len(conversations) == 3
    assert once_more.conversation_id == failed.conversation_id


def test_without_a_name_a_history_that_ends_in_an_answer_is_found(record):
    first = record(body(user("Hi")), "Hello.")

    second = record(body(user("Hi"), assistant("Hello."), user("And now?")))

    assert second.conversation_id == first.conversation_id


def test_without_a_name_equal_questions_are_two_conversations(record):
    first = record(body(user("Hi")), "Hello.")

    second = record(body(user("Hi")), "Hello.")

    assert second.conversation_id != first.conversation_id


def test_two_customers_with_equal_words_never_share_a_conversation(record, make_account):
    sent = body(user("Hi"), assistant("Hello."), user("And now?"))
    first = record(sent, "Then.")

    second = record(sent, "Then.", account=make_account())

    assert (second.match, second.conversation_id != first.conversation_id) == ("started", True)


def test_of_equal_conversations_the_one_last_active_goes_on(record):
    older = record(body(user("Hi")), "Hello.")
    newer = record(body(user("Hi")), "Hello.")

    third = record(body(user("Hi"), assistant("Hello."), user("And now?")))

    assert third.conversation_id == newer.conversation_id != older.conversation_id


def test_another_accounts_conversation_is_refused_and_nothing_is_written(record, make_account):
    first = record(body(user("Hi")), "Hello.")

    with pytest.raises(NotFoundError, match="the account has no such conversation"):
        record(body(user("Hi")), after=first, account=make_account())

    assert Message.objects.count() == 2
    assert Generation.objects.count() == 1


def test_a_history_with_old_results_cleared_is_not_copied(record):
    asked, called = user("Where is 1042?"), assistant(call("toolu_1", order=1042))
    first = record(body(asked), answer(call("toolu_1", order=1042), stop_reason="tool_use"))
    history = [asked, called, user(result("toolu_1", "shipped")), assistant(call("toolu_2", order=7))]
    record(body(*history[:3]), answer(call("toolu_2", order=7), stop_reason="tool_use"), after=first)
    cleared = [
        asked,
        called,
        user(result("toolu_1", "[cleared]")),
        history[3],
        user(result("toolu_2", "lost")),
    ]

    third = record(body(*cleared), "Sorry.", after=first)

    assert (third.match, third.new_seqs) == ("rewritten", (5, 6))
    assert [row[1] for row in tree(first.conversation_id)] == [None, 1, 2, 3, 4, 5]
    assert request_body_of(conversation_id=first.conversation_id, number=3) == body(*cleared)


def test_a_window_onto_the_end_of_the_history_is_not_copied(record):
    history = [user("One?"), assistant(text("1.")), user("Two?"), assistant(text("2.")), user("Three?")]
    first = record(body(*history[:1]), "1.")
    record(body(*history[:3]), "2.", after=first)

    third = record(body(*history[2:]), "3.", after=first)

    attempt = Generation.objects.get(conversation_id=first.conversation_id, number=3)
    assert (third.match, third.proof, third.new_seqs) == ("rewritten", "exact", (5, 6))
    assert attempt.base_seq == 2
    assert request_body_of(conversation_id=first.conversation_id, number=3) == body(*history[2:])


def test_an_edit_far_back_is_a_branch_though_later_turns_are_known(record):
    history = [user("One?"), assistant("1."), user("Two?"), assistant("2."), user("Three?")]
    first = record(body(*history[:1]), "1.")
    record(body(*history[:3]), "2.", after=first)

    third = record(body(user("Uno?"), *history[1:]), "3.", after=first)

    assert (third.match, third.new_seqs) == ("branched", (5, 6, 7, 8, 9, 10))
    assert tree(first.conversation_id)[4][:4] == (5, None, "user", "user_edit")


def test_a_turn_that_is_known_twice_anchors_nothing(record):
    first = record(body(user("One?")), answer(call("call_0"), stop_reason="tool_use"))
    record(body(user("One?")), answer(call("call_0"), stop_reason="tool_use"), after=first)

    third = record(body(user("Uno?"), assistant(call("call_0")), user(result("call_0"))), after=first)

    assert third.match == "branched"


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
    assert request_body_of(conversation_id=first.conversation_id, number=2) == sent


def test_a_blank_message_that_is_new_is_kept(record):
    first = record(body(user("Hi")), "Hello.")
    sent = body(user("Hi"), assistant("Hello."), user(" "))

    second = record(sent, "Yes?", after=first)
    again = record(sent, "Well?", after=first)

    assert second.new_seqs == (3, 4)
    assert (again.new_seqs, again.leaf_seq) == ((5,), 3)


@pytest.mark.parametrize("member", ["previous_response_id", "conversation"])
def test_a_conversation_that_the_provider_holds_is_gone_on_with(record, member):
    named = (
        {"previous_response_id": "resp_1"} if member == "previous_response_id" else {"conversation": "conv_9"}
    )
    opening = {} if member == "previous_response_id" else named
    first = record(
        responses_body("Hi", **opening),
        responses_answer("resp_1", "Hello."),
        dialect=Dialect.OPENAI_RESPONSES,
    )
    sent = responses_body("And now?", **named)

    second = record(sent, responses_answer("resp_2", "Then."), dialect=Dialect.OPENAI_RESPONSES)

    assert second.conversation_id == first.conversation_id
    assert [row[1] for row in tree(first.conversation_id)] == [None, 1, 2, 3]
    assert (second.match, second.proof) == ("continued", "exact")
    assert request_body_of(conversation_id=first.conversation_id, number=2) == sent


def responses_body(words, **members) -> bytes:
    item = {"role": "user", "content": [{"type": "input_text", "text": words}]}
    return json.dumps({"model": "gpt-b", "input": [item], **members}, separators=(",", ":")).encode()


def responses_answer(response_id, words) -> bytes:
    content = [{"type": "output_text", "text": words, "annotations": []}]
    item = {
        "id": f"msg_{response_id}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }
    value = {
        "id": response_id,
        "object": "response",
        "status": "completed",
        "model": "gpt-b",
        "output": [item],
    }
    return json.dumps(value).encode()
