"""Attempts and totals: what an answer cost, and what broke off."""

import pytest

from conversations.vocabulary import GenerationStatus
from conversations.wire.shapes import Usage
from tests.conversations.drafts import assistant, user


def test_totals_tell_live_from_abandoned_and_add_up(page_of, forked, answer):
    answer(
        forked, 4, None, status=GenerationStatus.FAILED, usage=None, error_code="overloaded", request_id="x"
    )

    rows = {row.label: row for row in page_of(forked).context["page"].totals}

    assert [(row.messages, row.attempts.attempts, row.attempts.failed) for row in rows.values()] == [
        (4, 2, 0),
        (2, 1, 1),
        (6, 3, 1),
    ]
    whole = rows["Whole conversation"].attempts
    assert (whole.input_tokens, whole.output_tokens) == (2_000, 200)
    assert whole.cost_usd == sum(attempt.cost_usd or 0 for attempt in forked.generations.all())
    assert whole.unpriced == 1


def test_retries_and_fallbacks_stand_below_the_answer_with_what_they_cost(
    page_of, make_conversation, say, answer
):
    conversation = make_conversation()
    asked = say(conversation, user())
    answer(
        conversation,
        asked,
        None,
        status=GenerationStatus.FAILED,
        http_status=529,
        error_code="overloaded_error",
        usage=None,
        request_id="one",
    )
    answer(conversation, asked, assistant(), served_model="claude-haiku-4-5", request_id="one", attempt=2)

    response = page_of(conversation)

    [_, answered] = response.context["thread"].turns
    assert answered.attempts.summary == "2 attempts, 1 failed, served by another model than asked for"
    page = response.content.decode()
    assert "529 overloaded_error" in page
    assert '<span class="muted">→</span> <bdi>claude-haiku-4-5</bdi>' in page


@pytest.mark.parametrize(
    ("status", "error_code", "outcome"),
    [
        (GenerationStatus.INTERRUPTED, "", "Interrupted"),
        (GenerationStatus.FAILED, "overloaded_error", "Failed, overloaded_error"),
    ],
)
def test_what_arrived_of_an_answer_that_broke_off_stands_beside_how_it_ended(
    page_of, make_conversation, say, answer, status, error_code, outcome
):
    conversation = make_conversation()
    asked = say(conversation, user())
    usage = Usage(uncached_input=1_000)
    partial = assistant("Your refund of")
    answer(conversation, asked, partial, status=status, error_code=error_code, http_status=200, usage=usage)

    response = page_of(conversation)

    [_, broken_off] = response.context["thread"].turns
    assert [line.outcome for line in broken_off.attempts.lines] == [outcome]
    page = response.content.decode()
    assert "Your refund of" in page
    assert outcome in page
    assert "0.0030</span><small>at least</small>" in page or "0.0030<small>at least</small>" in page


def test_an_attempt_without_an_answer_stands_below_the_message_it_was_asked_after(
    page_of, make_conversation, say, answer
):
    conversation = make_conversation()
    asked = say(conversation, user())
    answer(conversation, asked, None, status=GenerationStatus.FAILED, usage=None)

    [turn] = page_of(conversation).context["thread"].turns

    assert turn.attempts.summary == "1 attempt, 1 failed, no answer"
