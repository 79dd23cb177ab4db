"""The digest of a stored path, read back where something goes on from it."""

import pytest

from conversations.identity import path_digests
from conversations.models import Message
from conversations.reads.digests import chain_at
from conversations.services.appending import append_message
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, user


@pytest.fixture
def said(conversation):
    """Writes messages one below the other, and gives them back."""

    def write(*messages):
        for message in messages:
            append_message(conversation_id=conversation.pk, message=message, actor=CUSTOMER, now=NOW)
        return messages

    return write


@pytest.mark.parametrize("answers", [0, 1, 10])
def test_a_chain_goes_on_from_a_turn_of_any_length_with_as_many_queries(
    said, conversation, account, django_assert_num_queries, answers
):
    """One for the turn and what it follows, one for the turn's messages where there is a turn."""
    stored = said(user(), *(assistant(f"Step {number}") for number in range(answers)))
    for more in (user("And then?"), assistant("Done.")):
        with django_assert_num_queries(2 if answers else 1):
            chain = chain_at(account_id=account.pk, conversation_id=conversation.pk, seq=len(stored))

        assert chain.add(more) == path_digests([*stored, more], account_id=account.pk)[-1]


def test_a_chain_goes_on_from_a_turn_that_nothing_stands_above(said, conversation, account):
    stored = said(assistant("Welcome."), assistant("How can I help?"))

    chain = chain_at(account_id=account.pk, conversation_id=conversation.pk, seq=2)

    assert chain.add(user()) == path_digests([*stored, user()], account_id=account.pk)[-1]


def test_nothing_goes_on_from_a_message_that_does_not_exist(said, conversation, account):
    said(user())

    with pytest.raises(Message.DoesNotExist):
        chain_at(account_id=account.pk, conversation_id=conversation.pk, seq=2)
