from datetime import timedelta

import pytest

from conversations.models import Account, Conversation
from conversations.services.accounts import ensure_account
from conversations.services.starting import start_conversation
from conversations.vocabulary import Source
from tests.conversations.conftest import NOW

pytestmark = pytest.mark.django_db


def test_a_conversation_begins_empty(account):
    conversation = start_conversation(account_id=account.pk, now=NOW, title="Order 1042")

    conversation.refresh_from_db()
    assert (conversation.head_seq, conversation.next_seq, conversation.source) == (None, 1, "application")
    assert (conversation.created_at, conversation.last_activity_at) == (NOW, NOW)
    assert conversation.account == account


def test_ids_sort_by_the_conversations_own_start(account):
    old = start_conversation(
        account_id=account.pk, now=NOW, started_at=NOW - timedelta(days=900), source=Source.IMPORTED
    )
    new = start_conversation(account_id=account.pk, now=NOW - timedelta(days=1))

    assert list(Conversation.objects.order_by("id")) == [old, new]
    assert old.id.version == 7
    assert old.last_activity_at == NOW - timedelta(days=900)


def test_an_external_ref_is_its_accounts_own(account, make_account):
    first = start_conversation(account_id=account.pk, now=NOW, external_ref="ticket-7")
    elsewhere = start_conversation(account_id=make_account().pk, now=NOW, external_ref="ticket-7")

    assert start_conversation(account_id=account.pk, now=NOW, external_ref="ticket-7", title="x") == first
    assert elsewhere != first


def test_an_account_is_made_once(realm):
    first = ensure_account(realm=realm, external_id="c-1", now=NOW, label="Ada", email="ada@example.org")

    again = ensure_account(realm=realm, external_id="c-1", now=NOW, label="Someone", email="x@example.org")

    assert again == first
    assert Account.objects.values_list("label", "email").get() == ("Ada", "ada@example.org")


def test_a_start_that_is_still_to_come_is_taken_as_now(account):
    begun = start_conversation(account_id=account.pk, now=NOW, started_at=NOW + timedelta(days=9_000))

    begun.refresh_from_db()
    assert (begun.started_at, begun.last_activity_at) == (NOW, NOW)
