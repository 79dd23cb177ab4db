"""Values that no column holds: refused with a rule and a place by every service, before anything is kept."""

import pytest

from conversations.errors import StoreError
from conversations.models import Account, Conversation, Generation
from conversations.services.appending import append_message
from conversations.services.generations import Attempt, Outcome, begin_generation, finish_generation
from conversations.vocabulary import Dialect, GenerationStatus
from conversations.wire.shapes import Usage
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, user


def begin(conversation, **fields) -> Generation:
    named = {"request_id": "r-1", "provider": "anthropic", "requested_model": "claude-sonnet-4-6"}
    attempt = Attempt(dialect=Dialect.ANTHROPIC_MESSAGES, **{**named, **fields})
    return begin_generation(conversation_id=conversation.pk, leaf_seq=1, attempt=attempt, now=NOW)[0]


def finish(conversation, **fields) -> Generation:
    outcome = Outcome(status=GenerationStatus.COMPLETE, **fields)
    return finish_generation(
        conversation_id=conversation.pk, number=1, outcome=outcome, actor=CUSTOMER, now=NOW
    )


@pytest.fixture
def asked(conversation):
    append_message(conversation_id=conversation.pk, message=user(), actor=CUSTOMER, now=NOW)
    return conversation


@pytest.mark.parametrize("fields", [{"external_ref": "r" * 256}, {"external_ref": "\x00"}])
def test_a_conversation_that_no_row_holds_is_refused(make_conversation, fields):
    with pytest.raises(StoreError, match="a new conversation: a value that no column") as refused:
        make_conversation(**fields)

    assert refused.value.rule == "value-not-storable"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fields", [{"external_id": "c" * 256}, {"external_id": "\x00"}, {"label": "\x00"}])
def test_an_account_that_no_row_holds_is_refused(make_account, fields):
    with pytest.raises(StoreError, match="an account: a value that no column"):
        make_account(**fields)

    assert not Account.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"request_id": "r" * 256}, "value-not-storable"),
        ({"request_id": "\x00"}, "value-not-storable"),
        ({"attempt": 0}, "attempt-below-one"),
    ],
)
def test_an_attempt_that_no_row_holds_is_refused(asked, fields, rule):
    with pytest.raises(StoreError) as refused:
        begin(asked, **fields)

    assert (refused.value.rule, refused.value.place) == (rule, f"conversation {asked.pk}, message 1")
    assert not Generation.objects.exists()
    assert Conversation.objects.get().next_generation == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"http_status": 99999}, "value-not-storable"),
        ({"error_code": "e" * 129}, "value-not-storable"),
        ({"usage": Usage(output=1, reasoning=5)}, "reasoning-above-output"),
        ({"message": assistant("a\x00b")}, "character-not-storable"),
    ],
)
def test_an_ending_that_no_row_holds_is_refused_and_the_attempt_stays_open(asked, fields, rule):
    begin(asked)

    with pytest.raises(StoreError) as refused:
        finish(asked, **fields)

    assert refused.value.rule == rule
    assert Generation.objects.get().status == GenerationStatus.STREAMING
