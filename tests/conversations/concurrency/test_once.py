"""What begins once begins once, however many ask for it."""

from collections import Counter
from functools import partial

import pytest

from conversations.models import Conversation, Generation, Message, MessagePart
from conversations.services.accounts import ensure_account
from conversations.services.forking import fork_conversation
from conversations.services.starting import start_conversation
from tests.conversations.concurrency.steps import append, begin, finish
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, user
from tests.conversations.invariants import assert_well_formed
from tests.conversations.writers import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_request_begins_once(conversation):
    append(conversation, user())

    begun = at_once(*[partial(begin, conversation, 1) for _ in range(8)])

    assert Counter(is_new for _, is_new in begun) == {True: 1, False: 7}
    assert Generation.objects.filter(conversation=conversation).count() == 1
    assert_well_formed(conversation.pk)


def test_an_attempt_ends_once(conversation):
    append(conversation, user())
    begin(conversation, 1)

    ended = at_once(*[partial(finish, conversation, 1, assistant()) for _ in range(8)])

    assert {one.message_seq for one in ended} == {2}
    assert Message.objects.filter(conversation=conversation).count() == 2
    assert_well_formed(conversation.pk)


def test_one_external_ref_at_once_starts_one_conversation(account):
    started = at_once(
        *[
            partial(start_conversation, account_id=account.pk, now=NOW, external_ref="ticket-7")
            for _ in range(8)
        ]
    )

    assert len({one.pk for one in started}) == 1
    assert Conversation.objects.count() == 1


def test_one_customer_at_once_makes_one_account(realm):
    made = at_once(*[partial(ensure_account, realm=realm, external_id="c-1", now=NOW) for _ in range(8)])

    assert len({one.pk for one in made}) == 1


def test_one_fork_at_once_is_made_once(conversation):
    append(conversation, user())
    append(conversation, assistant())

    forks = at_once(
        *[
            partial(
                fork_conversation,
                conversation_id=conversation.pk,
                leaf_seq=2,
                actor=CUSTOMER,
                now=NOW,
                external_ref="fork-1",
            )
            for _ in range(4)
        ]
    )

    assert len({fork.pk for fork in forks}) == 1
    assert Conversation.objects.count() == 2
    assert MessagePart.objects.filter(conversation=forks[0]).count() == 2
    assert_well_formed(forks[0].pk)
