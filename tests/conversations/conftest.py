"""What the tests of the store share: a realm, accounts, conversations, drafts."""

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count

import pytest

from access.actors import Actor, ActorKind
from access.models import Realm
from conversations.models import Account, Conversation
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message
from conversations.services.starting import start_conversation
from tests.conversations.drafts import user

NOW = datetime(2026, 3, 9, 14, 3, tzinfo=UTC)
CUSTOMER = Actor(kind=ActorKind.CUSTOMER)


@pytest.fixture
def realm(db: None) -> Realm:
    return Realm.objects.create(slug="wendelmere", name="Wendelmere Travel", created_at=NOW)


@pytest.fixture
def make_account(realm: Realm) -> Callable[..., Account]:
    numbers = count(1)

    def make(**fields) -> Account:
        fields = {"realm": realm, "external_id": f"customer-{next(numbers)}", "now": NOW, **fields}
        return ensure_account(**fields)

    return make


@pytest.fixture
def account(make_account: Callable[..., Account]) -> Account:
    return make_account()


@pytest.fixture
def make_conversation(account: Account) -> Callable[..., Conversation]:
    def make(**fields) -> Conversation:
        return start_conversation(**{"account_id": account.pk, "now": NOW, **fields})

    return make


@pytest.fixture
def conversation(make_conversation: Callable[..., Conversation]) -> Conversation:
    return make_conversation()


@pytest.fixture
def asked(conversation: Conversation) -> Conversation:
    """A conversation with a question that nothing has answered."""
    append_message(conversation_id=conversation.pk, message=user(), actor=CUSTOMER, now=NOW)
    return conversation
