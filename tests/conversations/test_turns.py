"""A turn: the message and the attempt at its answer, both or neither, once only."""

import pytest

from conversations.errors import ConflictError, StoreError
from conversations.models import Generation, HeadMove, Message
from conversations.services.appending import append_message, edit_message
from conversations.services.generations import Attempt, Outcome, finish_generation
from conversations.services.turns import Again, open_turn, regenerate
from conversations.vocabulary import Dialect, GenerationStatus
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, user
from tests.conversations.writers import at_once

pytestmark = pytest.mark.django_db


def attempt(request_id="r-1", **fields):
    return Attempt(
        **{
            "request_id": request_id,
            "provider": "anthropic",
            "dialect": Dialect.ANTHROPIC_MESSAGES,
            "requested_model": "claude-sonnet-4-5",
            **fields,
        }
    )


def ask(conversation, message=None, of=None):
    message = message or user(client_message_id="m-1")
    return open_turn(
        conversation_id=conversation.pk,
        message=message,
        write=lambda: append_message(
            conversation_id=conversation.pk, message=message, actor=CUSTOMER, now=NOW
        ),
        attempt=of or attempt(),
        now=NOW,
    )


def finish(conversation, number, message):
    return finish_generation(
        conversation_id=conversation.pk,
        number=number,
        outcome=Outcome(status=GenerationStatus.COMPLETE, message=message),
        actor=CUSTOMER,
        now=NOW,
    )


def test_an_attempt_that_cannot_be_written_takes_its_message_along(conversation):
    with pytest.raises(StoreError) as refused:
        ask(conversation, of=attempt(provider="x" * 33))

    assert refused.value.rule == "value-not-storable"
    assert not Message.objects.exists()
    assert not HeadMove.objects.exists()
    conversation.refresh_from_db()
    assert (conversation.head_seq, conversation.next_generation) == (None, 1)


def test_of_a_message_that_is_stored_the_newest_attempt_is_returned(conversation):
    first = ask(conversation)
    second, _ = regenerate(
        conversation_id=conversation.pk,
        number=first.generation.number,
        again=Again(request_id="r-2"),
        actor=CUSTOMER,
        now=NOW,
    )

    again = ask(conversation, of=attempt("r-3"))

    assert (again.is_new, again.generation.number) == (False, second.number)
    assert (Message.objects.count(), Generation.objects.count()) == (1, 2)


@pytest.mark.parametrize("message", [user(client_message_id="m-1"), user()])
def test_a_second_attempt_of_a_request_is_opened_below_its_message(conversation, message):
    ask(conversation)

    turns = [ask(conversation, message, of=attempt("r-1", attempt=2)) for _ in range(2)]

    assert [(turn.message.is_new, turn.is_new) for turn in turns] == [(False, True), (False, False)]
    assert {turn.generation.attempt for turn in turns} == {2}
    assert (Message.objects.count(), Generation.objects.count()) == (1, 2)


def test_a_message_that_was_appended_alone_gets_its_first_attempt(conversation):
    message = user(client_message_id="m-1")
    append_message(conversation_id=conversation.pk, message=message, actor=CUSTOMER, now=NOW)

    turn = ask(conversation, message)

    assert (turn.message.is_new, turn.is_new, turn.generation.leaf_seq) == (False, True, 1)


def test_a_request_of_a_purged_branch_is_not_opened_again(conversation):
    ask(conversation)
    Generation.objects.update(leaf_seq=None)

    with pytest.raises(ConflictError) as refused:
        ask(conversation)

    assert refused.value.rule == "leaf-gone"


def test_an_edit_opens_an_attempt_below_the_new_version(conversation):
    finish(conversation, ask(conversation).generation.number, assistant())
    message = user("Where is order 1043?")

    turn = open_turn(
        conversation_id=conversation.pk,
        message=message,
        write=lambda: edit_message(
            conversation_id=conversation.pk, seq=1, message=message, actor=CUSTOMER, now=NOW
        ),
        attempt=attempt("r-2"),
        now=NOW,
    )

    assert (turn.message.seq, turn.generation.leaf_seq) == (3, 3)


@pytest.mark.django_db(transaction=True)
def test_of_eight_that_regenerate_at_once_one_opens_the_attempt(conversation):
    finish(conversation, ask(conversation).generation.number, assistant())

    def again():
        return regenerate(
            conversation_id=conversation.pk,
            number=1,
            again=Again(request_id="r-2"),
            outcome=Outcome(status=GenerationStatus.COMPLETE, message=assistant("Lost.")),
            actor=CUSTOMER,
            now=NOW,
        )

    outcomes = at_once(*[again] * 8)

    assert sorted(is_new for _, is_new in outcomes) == [False] * 7 + [True]
    assert {generation.message_seq for generation, _ in outcomes} == {3}
    assert Message.objects.count() == 3


def test_what_is_left_out_is_as_in_the_attempt_before(conversation):
    before = ask(conversation, of=attempt(prompt_version="p1", api_version="2023-06-01")).generation

    again, _ = regenerate(
        conversation_id=conversation.pk,
        number=before.number,
        again=Again(request_id="r-2", model="claude-haiku-4-5", prompt_version="p2"),
        actor=CUSTOMER,
        now=NOW,
    )

    assert (again.requested_model, again.prompt_version, again.api_version) == (
        "claude-haiku-4-5",
        "p2",
        "2023-06-01",
    )
    assert (again.provider, again.dialect, again.leaf_seq) == ("anthropic", "anthropic_messages", 1)


def test_an_imported_attempt_without_a_dialect_needs_one(conversation):
    ask(conversation)
    Generation.objects.update(dialect="")

    with pytest.raises(StoreError) as refused:
        regenerate(
            conversation_id=conversation.pk,
            number=1,
            again=Again(request_id="r-2"),
            actor=CUSTOMER,
            now=NOW,
        )

    assert refused.value.rule == "dialect-unknown"
