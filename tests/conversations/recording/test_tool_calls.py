"""Calls and results that do not meet are kept as they came, and marked."""

from django.db import connection

from conversations.models import Conversation, MessagePart, ToolCall
from conversations.services.placing import check_deferred
from conversations.vocabulary import Dialect
from tests.conversations.recording.exchanges import (
    answer,
    assistant,
    body,
    call,
    given_back,
    result,
    tree,
    user,
)


def test_a_result_without_its_call_is_kept_and_marked(record):
    sent = body(user(result("toolu_T1")), assistant("Done."), user("Thanks"))

    exchange = record(sent)

    orphan = MessagePart.objects.get(type="tool_result")
    conversation = Conversation.objects.get(id=exchange.conversation_id)
    assert (orphan.seq, orphan.orphan, orphan.answers_seq) == (1, True, None)
    assert conversation.replay_obstacle == "received_broken"
    assert [violation.rule for violation in exchange.violations] == ["results-answer-previous"]
    assert given_back(exchange) == sent


def test_a_call_that_the_history_passes_over_is_marked_unanswered(record):
    sent = body(
        user("Refund it"),
        assistant(call("toolu_1"), call("toolu_2")),
        user(result("toolu_1")),
        assistant("Ok"),
    )

    exchange = record(sent)

    assert dict(ToolCall.objects.values_list("call_id", "status")) == {
        "toolu_1": "succeeded",
        "toolu_2": "unanswered",
    }
    assert given_back(exchange) == sent


def test_a_call_in_a_message_of_results_is_marked_unanswered_where_the_path_goes_on(record):
    """It belongs to the calls that its message answers, so nothing below can answer it."""
    sent = body(user("Refund it"), assistant(call("toolu_1")), user(result("toolu_1"), call("toolu_2")))

    exchange = record(sent, "Done.")

    assert exchange.match == "started"
    assert dict(ToolCall.objects.values_list("call_id", "status")) == {
        "toolu_1": "succeeded",
        "toolu_2": "unanswered",
    }
    assert given_back(exchange) == sent


def test_a_stored_call_that_the_next_request_passes_over_is_marked_unanswered(record):
    first = record(body(user("Refund it")), answer(call("toolu_1"), stop_reason="tool_use"))

    second = record(
        body(user("Refund it"), assistant(call("toolu_1")), user("Never mind")), "Fine.", after=first
    )

    assert second.new_seqs == (3, 4)
    assert ToolCall.objects.get().status == "unanswered"
    assert Conversation.objects.get().replay_obstacle == "received_broken"


def test_calls_end_as_their_results_say(record):
    called = answer(call("toolu_1"), call("toolu_2"), stop_reason="tool_use")
    first = record(body(user("Go")), called)
    results = user(result("toolu_1"), result("toolu_2", "no such order", is_error=True))

    record(body(user("Go"), assistant(call("toolu_1"), call("toolu_2")), results), after=first)

    assert dict(ToolCall.objects.values_list("call_id", "status")) == {
        "toolu_1": "succeeded",
        "toolu_2": "failed",
    }
    assert set(ToolCall.objects.values_list("generation_number", flat=True)) == {1}


def test_results_split_over_messages_stay_as_they_came(record):
    calls = [call("toolu_P1"), call("toolu_P2"), call("toolu_P3")]
    first = record(body(user("All")), answer(*calls, stop_reason="tool_use"))
    split = [user(result("toolu_P1")), user(result("toolu_P2"), result("toolu_P3"))]
    sent = body(user("All"), assistant(*calls), *split)

    exchange = record(sent, after=first)

    assert [row[2] for row in tree(first.conversation_id)] == [
        "user",
        "assistant",
        "user",
        "user",
        "assistant",
    ]
    assert set(ToolCall.objects.values_list("status", flat=True)) == {"succeeded"}
    assert given_back(exchange, 2) == sent
    assert "results-in-one-message" in {violation.rule for violation in exchange.violations}


def test_a_repeated_call_id_in_one_message_is_kept_twice_and_counts_once(record):
    twice = assistant(call("charge_card:1", "charge_card", order=77), call("charge_card:1", "unknown"))
    sent = body(user("Pay"), twice, user(result("charge_card:1")))

    exchange = record(sent)

    parts = MessagePart.objects.filter(type="tool_use").order_by("ordinal")
    assert [(part.tool_name, part.orphan) for part in parts] == [("charge_card", False), ("unknown", True)]
    assert ToolCall.objects.get().status == "succeeded"
    assert given_back(exchange) == sent


def test_arguments_that_are_no_json_number_are_kept_as_they_came(record):
    exchange = record(
        body(user("Hi")), answer(call("toolu_1", rate=float("nan"), id="ch_1"), stop_reason="tool_use")
    )

    stored = ToolCall.objects.get()
    assert (exchange.match, stored.arguments) == ("started", {"id": "ch_1"})
    assert b'"rate":NaN' in bytes(MessagePart.objects.get(type="tool_use").payload)


def test_three_hundred_calls_at_once_are_asked_about_once(record):
    names = [f"call_{number}" for number in range(300)]
    asked = [{"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}} for name in names]
    sent = body(
        user("Do it all"),
        {"role": "assistant", "content": None, "tool_calls": asked},
        *({"role": "tool", "tool_call_id": name, "content": "ok"} for name in names),
    )
    with connection.cursor() as cursor:
        # Each asked with all the others, they took minutes.
        cursor.execute("SET LOCAL statement_timeout = '20s'")

    record(sent, dialect=Dialect.OPENAI_CHAT)
    check_deferred()

    assert set(ToolCall.objects.values_list("status", flat=True)) == {"succeeded"}
