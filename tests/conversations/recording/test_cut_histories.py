"""A history of which the client has cut something is not copied."""

from conversations.models import Generation
from tests.conversations.recording.exchanges import (
    answer,
    assistant,
    body,
    call,
    given_back,
    result,
    text,
    tree,
    user,
)


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
    assert given_back(first, 3) == body(*cleared)


def test_a_window_onto_the_end_of_the_history_is_not_copied(record):
    history = [user("One?"), assistant(text("1.")), user("Two?"), assistant(text("2.")), user("Three?")]
    first = record(body(*history[:1]), "1.")
    record(body(*history[:3]), "2.", after=first)

    third = record(body(*history[2:]), "3.", after=first)

    attempt = Generation.objects.get(conversation_id=first.conversation_id, number=3)
    assert (third.match, third.proof, third.new_seqs) == ("rewritten", "exact", (5, 6))
    assert attempt.base_seq == 2
    assert given_back(first, 3) == body(*history[2:])


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
