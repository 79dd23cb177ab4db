"""A conversation with two calls in raw rows, and an effect of the first one."""

from uuid import UUID

import pytest
from django.db import transaction

from tests.conversations.schema.conftest import add_call, move_head
from tests.conversations.schema.rows import insert as insert_tree
from tests.ledger.schema.rows import begin, settle

EFFECT = UUID("019cd2e8-8620-745a-943e-d7568a45ad62")


@pytest.fixture
def called(conversation) -> UUID:
    """Message 1 is asked, 2 makes two calls and is the head."""
    with transaction.atomic():
        insert_tree("message", conversation_id=conversation.pk, seq=1)
        insert_tree("message", conversation_id=conversation.pk, seq=2, parent_seq=1, role="assistant")
        for ordinal, call_id in enumerate(("toolu_1", "toolu_2")):
            add_call(conversation.pk, seq=2, ordinal=ordinal, call_id=call_id)
        move_head(conversation.pk, number=1, seq=2)
    return conversation.pk


@pytest.fixture
def facts(called, realm, account) -> dict:
    """What every effect of this conversation names."""
    return {
        "realm_id": realm.pk,
        "account_id": account.pk,
        "conversation_id": called,
        "call_seq": 2,
    }


@pytest.fixture
def effect(facts) -> UUID:
    begin(EFFECT, **facts)
    return EFFECT


@pytest.fixture
def applied(effect) -> UUID:
    settle(effect)
    return effect
