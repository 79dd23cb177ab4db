from decimal import Decimal

import pytest
from django.db import transaction

from conversations.errors import ConflictError, NotFoundError, StoreError
from conversations.models import Generation, HeadMove, Message, ToolCall
from conversations.services.appending import append_message, edit_message
from conversations.services.generations import (
    LEAF_IS_GONE,
    cancel_generation,
)
from conversations.vocabulary import GenerationStatus
from conversations.wire.shapes import Usage
from tests.conversations.attempts import begin, finish
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, calls, user
from tests.conversations.invariants import assert_well_formed

pytestmark = pytest.mark.django_db


def test_an_attempt_begins_below_its_leaf(asked):
    generation, is_new = begin(asked)

    assert (generation.number, generation.leaf_seq, generation.status, is_new) == (1, 1, "streaming", True)
    asked.refresh_from_db()
    assert asked.next_generation == 2


def test_a_repeated_request_returns_the_attempt(asked):
    first, _ = begin(asked)

    again, is_new = begin(asked, prompt_version="another")

    assert (again.pk, again.prompt_version, is_new) == (first.pk, "", False)
    assert Generation.objects.count() == 1


def test_a_retry_is_another_attempt_of_the_request(asked):
    begin(asked)
    begin(asked, attempt=2, requested_model="claude-haiku-4-5")

    attempts = Generation.objects.order_by("number").values_list("number", "request_id", "attempt")
    assert list(attempts) == [(1, "r-1", 1), (2, "r-1", 2)]


def test_a_request_id_used_below_another_message_is_refused(asked):
    append_message(conversation_id=asked.pk, message=assistant(), actor=CUSTOMER, now=NOW)
    begin(asked)

    with pytest.raises(ConflictError) as refused:
        begin(asked, leaf_seq=2)

    assert refused.value.rule == "request-id-used"
    assert Generation.objects.count() == 1


def test_an_attempt_needs_a_leaf_that_exists(asked):
    with pytest.raises(NotFoundError) as refused:
        begin(asked, leaf_seq=7)

    assert (refused.value.rule, refused.value.place) == (
        "no-message",
        f"conversation {asked.pk}, message 7",
    )
    asked.refresh_from_db()
    assert asked.next_generation == 1


def test_an_answer_becomes_the_head(asked):
    begin(asked)

    generation = finish(asked, message=assistant(), usage=Usage(uncached_input=1000, output=100))

    asked.refresh_from_db()
    assert (generation.message_seq, asked.head_seq) == (2, 2)
    assert (generation.status, generation.finished_at) == ("complete", NOW)
    assert (generation.cost_usd, generation.cost_confidence) == (Decimal("0.0045"), "exact")
    assert Message.objects.get(conversation=asked, seq=2).branch_reason == "continue"
    assert_well_formed(asked.pk)


def test_an_answer_where_one_stands_is_another_version(asked):
    begin(asked)
    finish(asked, message=assistant("One."))
    begin(asked, request_id="r-2")

    second = finish(asked, number=2, message=assistant("Two."))

    assert (second.leaf_seq, second.message_seq) == (1, 3)
    assert Message.objects.get(conversation=asked, seq=3).branch_reason == "regenerate"
    assert HeadMove.objects.get(conversation=asked, number=3).reason == "regenerate"


def test_an_answer_beside_a_note_is_no_regeneration(asked):
    begin(asked)
    append_message(conversation_id=asked.pk, message=user("operator's note"), actor=CUSTOMER, now=NOW)

    generation = finish(asked, message=assistant())

    assert generation.message_seq == 3
    assert Message.objects.get(conversation=asked, seq=3).branch_reason == "continue"
    assert_well_formed(asked.pk)


def test_an_answer_to_a_branch_that_was_left_does_not_take_the_head_back(asked):
    begin(asked)
    edit_message(conversation_id=asked.pk, seq=1, message=user("Never mind"), actor=CUSTOMER, now=NOW)

    generation = finish(asked, message=assistant())

    asked.refresh_from_db()
    assert (generation.message_seq, asked.head_seq) == (3, 2)
    assert_well_formed(asked.pk)


def test_the_calls_of_an_answer_name_their_attempt(asked):
    begin(asked)

    finish(asked, message=calls("call_0"))

    assert ToolCall.objects.get().generation_number == 1


def test_ending_twice_in_one_way_ends_once(asked):
    begin(asked)
    first = finish(asked, message=assistant())

    again = finish(asked, message=assistant())

    assert again.message_seq == first.message_seq
    assert Message.objects.count() == 2


def test_ending_in_another_way_is_refused(asked):
    begin(asked)
    finish(asked, message=assistant())

    with pytest.raises(ConflictError) as refused:
        cancel_generation(conversation_id=asked.pk, number=1, actor=CUSTOMER, now=NOW)

    assert refused.value.rule == "attempt-ended"
    assert Generation.objects.get().status == "complete"


def test_an_attempt_does_not_end_as_streaming(asked):
    begin(asked)

    with pytest.raises(StoreError, match="streaming is no way to end"):
        finish(asked, status=GenerationStatus.STREAMING)


def test_an_attempt_that_is_not_there_is_not_found(asked):
    with pytest.raises(NotFoundError) as refused:
        finish(asked)

    assert refused.value.place == f"conversation {asked.pk}, attempt 1"


def test_a_failed_attempt_keeps_its_tokens_and_its_cost(asked):
    begin(asked)

    finish(
        asked,
        status=GenerationStatus.FAILED,
        error_code="overloaded_error",
        http_status=529,
        usage=Usage(uncached_input=2000, output=0),
    )

    failed = Generation.objects.get()
    assert (failed.message_seq, failed.uncached_input_tokens) == (None, 2000)
    assert (failed.cost_usd, failed.cost_confidence) == (Decimal("0.006"), "estimated")
    assert (failed.error_code, failed.http_status) == ("overloaded_error", 529)
    assert Message.objects.count() == 1


def test_an_attempt_without_usage_costs_an_unknown_amount_not_nothing(asked):
    begin(asked)

    finish(asked, status=GenerationStatus.FAILED)

    failed = Generation.objects.get()
    assert (failed.cost_usd, failed.cost_confidence) == (None, "unknown")


def test_an_answer_that_breaks_the_pairing_leaves_the_attempt_open(asked):
    append_message(conversation_id=asked.pk, message=calls("call_0"), actor=CUSTOMER, now=NOW)
    begin(asked, leaf_seq=2)

    with pytest.raises(StoreError) as refused, transaction.atomic():
        finish(asked, message=assistant())

    assert refused.value.rule == "call-unanswered"
    assert Generation.objects.get().status == "streaming"
    assert Message.objects.count() == 2


def test_an_answer_to_a_purged_branch_keeps_its_cost_only(asked):
    append_message(conversation_id=asked.pk, message=assistant(), actor=CUSTOMER, now=NOW)
    edit_message(conversation_id=asked.pk, seq=1, message=user("Never mind"), actor=CUSTOMER, now=NOW)
    begin(asked)
    Message.objects.filter(conversation=asked, seq=1).delete()

    generation = finish(asked, message=assistant(), usage=Usage(uncached_input=1000, output=100))

    assert (generation.message_seq, generation.notes) == (None, [LEAF_IS_GONE])
    assert generation.cost_usd == Decimal("0.0045")
    assert list(Message.objects.values_list("seq", flat=True)) == [3]
