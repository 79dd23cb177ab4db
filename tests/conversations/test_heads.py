from datetime import timedelta

import pytest

from conversations.errors import ConflictError, NotFoundError
from conversations.models import HeadMove
from conversations.services.appending import append_message
from conversations.services.heads import switch_head
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, user

pytestmark = pytest.mark.django_db


@pytest.fixture
def forked(conversation):
    """Two answers to one question; the head is on the second."""
    for message, below in ((user(), 0), (assistant("One."), 1), (assistant("Two."), 1)):
        append_message(conversation_id=conversation.pk, message=message, actor=CUSTOMER, now=NOW, below=below)
    return conversation


def switch(conversation, seq, **fields):
    return switch_head(
        **{"conversation_id": conversation.pk, "seq": seq, "actor": CUSTOMER, "now": NOW, **fields}
    )


def log(conversation):
    moves = HeadMove.objects.filter(conversation=conversation).order_by("number")
    return list(moves.values_list("head_seq", "reason"))


def test_a_switch_is_logged(forked):
    assert switch(forked, 2) == 4

    forked.refresh_from_db()
    assert (forked.head_seq, forked.head_move) == (2, 4)
    assert log(forked)[-1] == (2, "switch")


def test_a_switch_to_where_the_head_is_writes_nothing(forked):
    assert switch(forked, 3) == 3

    assert len(log(forked)) == 3


def test_a_clock_that_lags_does_not_turn_the_log_around(forked):
    switch(forked, 2, now=NOW - timedelta(hours=1))

    assert HeadMove.objects.get(conversation=forked, number=4).moved_at == NOW


def test_a_head_in_another_conversation_is_refused(forked, make_conversation):
    other = make_conversation()

    with pytest.raises(NotFoundError) as refused:
        switch(other, 2)

    assert refused.value.rule == "head-elsewhere"
    assert refused.value.place == f"conversation {other.pk}, message 2"
    assert log(other) == []


def test_a_switch_on_an_old_view_is_refused(forked):
    seen = switch(forked, 2)
    switch(forked, 3)

    with pytest.raises(ConflictError, match="it was move 4, now it is 5"):
        switch(forked, 1, expected_move=seen)

    assert log(forked)[-1] == (3, "switch")


def test_a_conversation_that_is_not_there_is_not_found(forked, account):
    with pytest.raises(NotFoundError) as refused:
        switch_head(conversation_id=account.pk, seq=1, actor=CUSTOMER, now=NOW)

    assert refused.value.rule == "no-conversation"
