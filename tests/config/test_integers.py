import pytest
from django.db import DataError, transaction

from access.models import Realm
from conversations.services.accounts import ensure_account
from conversations.services.starting import start_conversation
from tests.conversations.conftest import NOW


@pytest.fixture
def conversation(db):
    realm = Realm.objects.create(slug="wendelmere", name="Wendelmere Travel", created_at=NOW)
    account = ensure_account(realm=realm, external_id="customer-1", now=NOW)
    return start_conversation(account_id=account.pk, now=NOW)


@pytest.mark.parametrize("number", [2**31, 2**40, 2**64, -(2**31) - 1])
def test_a_number_that_the_column_cannot_hold_is_refused_not_folded(conversation, number):
    conversation.next_generation = number

    with pytest.raises(DataError, match="out of range"), transaction.atomic():
        conversation.save(update_fields=["next_generation"])

    conversation.refresh_from_db()
    assert conversation.next_generation == 1


def test_the_largest_number_that_fits_is_kept(conversation):
    conversation.next_generation = 2**31 - 1
    conversation.save(update_fields=["next_generation"])

    conversation.refresh_from_db()

    assert conversation.next_generation == 2**31 - 1
