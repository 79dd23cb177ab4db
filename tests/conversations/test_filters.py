"""How a list is narrowed down: by who holds the value, or by asking one conversation after the other."""

import pytest

from conversations import filters
from conversations.filters import holders_of_rare
from conversations.models import Conversation, Generation
from tests.conversations.schema.rows import insert

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A value is rare below five rows; twenty are read where the first five stand in one conversation."""
    monkeypatch.setattr(filters, "_RARE", 5)
    monkeypatch.setattr(filters, "_FEW_CONVERSATIONS", 2)
    monkeypatch.setattr(filters, "_MANY", 20)


@pytest.fixture
def failing(make_conversation):
    """A conversation with so many failed attempts."""

    def make(attempts):
        conversation = make_conversation()
        for number in range(1, attempts + 1):
            ended = {"status": "failed", "finished_at": conversation.created_at}
            insert(
                "generation",
                conversation_id=conversation.pk,
                number=number,
                request_id=f"r-{number}",
                **ended,
            )
        return conversation

    return make


def found():
    held = holders_of_rare(Generation, {"status": "failed"})
    return None if held is None else set(Conversation.objects.filter(held))


def test_a_rare_value_is_looked_up(failing, make_conversation):
    make_conversation()
    held = failing(4)

    assert found() == {held}


def test_a_value_of_many_conversations_is_not(failing):
    for _ in range(5):
        failing(1)

    assert found() is None


def test_a_value_of_one_long_conversation_is_looked_up_all_the_same(failing, make_conversation):
    make_conversation()
    held = failing(12)

    assert found() == {held}


def test_what_does_not_end_is_given_up(failing):
    failing(20)

    assert found() is None
