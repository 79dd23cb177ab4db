import pytest
from django.db import transaction

from conversations.errors import NotFoundError, StoreError
from conversations.models import Message, MessagePart, ToolCall
from conversations.services.appending import append_message
from conversations.services.tool_results import CallEnding, answer_calls, tell_durations
from conversations.vocabulary import PartStatus, Role
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import MessageDraft, calls, result, results, user
from tests.conversations.invariants import assert_well_formed

pytestmark = pytest.mark.django_db


@pytest.fixture
def called(conversation):
    for message in (user(), calls("call_0", "call_1")):
        append_message(conversation_id=conversation.pk, message=message, actor=CUSTOMER, now=NOW)
    return conversation


def answer(conversation, message, **fields):
    return answer_calls(
        **{"conversation_id": conversation.pk, "message": message, "actor": CUSTOMER, "now": NOW, **fields}
    )


def lives():
    rows = ToolCall.objects.order_by("seq", "call_id")
    return list(rows.values_list("call_id", "status", "error_code", "duration_ms"))


def test_results_say_how_their_calls_ended(called):
    message = MessageDraft(
        role=Role.USER, parts=[result("call_0"), result("call_1", "no such order", status=PartStatus.ERROR)]
    )

    answer(called, message)

    assert lives() == [("call_0", "succeeded", "", None), ("call_1", "failed", "", None)]
    assert_well_formed(called.pk)


def test_the_runner_adds_codes_and_durations(called):
    endings = [
        CallEnding(call_id="call_0", duration_ms=140),
        CallEnding(call_id="call_1", error_code="timeout", duration_ms=30_000),
    ]

    answer(called, results("call_0", "call_1"), endings=endings)

    assert lives() == [("call_0", "succeeded", "", 140), ("call_1", "failed", "timeout", 30_000)]


def test_calls_are_answered_one_message_after_another(called):
    answer(called, results("call_1"))

    assert lives() == [("call_0", "requested", "", None), ("call_1", "succeeded", "", None)]
    answer(called, results("call_0"))
    assert [life[1] for life in lives()] == ["succeeded", "succeeded"]
    assert_well_formed(called.pk)


def test_a_repeated_answer_is_the_first_one(called):
    message = results("call_0", "call_1", client_message_id="m-3")
    first = answer(called, message, endings=[CallEnding(call_id="call_0", duration_ms=140)])

    again = answer(called, message, endings=[CallEnding(call_id="call_0", duration_ms=999)])

    assert (again.seq, again.is_new) == (first.seq, False)
    assert lives()[0] == ("call_0", "succeeded", "", 140)


def test_an_ending_without_a_result_is_refused_and_nothing_is_written(called):
    with pytest.raises(NotFoundError) as refused, transaction.atomic():
        answer(called, results("call_0"), endings=[CallEnding(call_id="call_9")])

    assert refused.value.rule == "ending-without-result"
    assert Message.objects.count() == 2
    assert lives() == [("call_0", "requested", "", None), ("call_1", "requested", "", None)]


def test_a_result_for_a_call_that_was_not_made_is_refused(called):
    with pytest.raises(StoreError) as refused, transaction.atomic():
        answer(called, results("call_0", "call_9"))

    assert refused.value.rule == "result-without-call"
    assert MessagePart.objects.filter(type="tool_result").count() == 0


@pytest.mark.parametrize("count", [1, 200])
def test_calls_are_settled_with_as_many_queries_however_many_there_are(
    conversation, django_assert_num_queries, count
):
    """Answering: two savepoints and their ends, the message, what is deferred, which message it answers, and
    all endings. Durations: all of them, between a savepoint and its end."""
    call_ids = [f"call_{number}" for number in range(count)]
    for message in (user(), calls(*call_ids)):
        append_message(conversation_id=conversation.pk, message=message, actor=CUSTOMER, now=NOW)

    with django_assert_num_queries(8):
        answer(conversation, results(*call_ids), endings=[CallEnding("call_0", error_code="timeout")])
    with django_assert_num_queries(3):
        told = tell_durations(conversation_id=conversation.pk, seq=2, durations=dict.fromkeys(call_ids, 7))

    assert told == count
    succeeded = [(call_id, "succeeded", "", 7) for call_id in sorted(call_ids[1:])]
    assert sorted(lives()) == sorted([("call_0", "failed", "timeout", 7), *succeeded])


def test_durations_are_told_of_answered_calls_once(called):
    answer(called, results("call_0"))

    def tell(**durations: int) -> int:
        return tell_durations(conversation_id=called.pk, seq=2, durations=durations)

    assert tell(call_0=140, call_1=90, call_9=1) == 1
    assert tell(call_0=7) == 0
    assert lives() == [("call_0", "succeeded", "", 140), ("call_1", "requested", "", None)]
