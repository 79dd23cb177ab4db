"""What counterfoil_read sees of customers' rows, as PostgreSQL itself decides it."""

import pytest
from django.db import transaction

from access.reach import Reach
from access.reading import reading_as
from conversations.models import Conversation
from conversations.search.lookup import find_by_id, find_by_prefix
from conversations.search.words import Within, search_words
from tests.access.tenants import count, rows, standing

pytestmark = [pytest.mark.schema, pytest.mark.django_db]


EVERYWHERE = Reach(sees_all=True)
NOWHERE = Reach()
# Tables whose rows follow from the account's realm; each has rows of both realms in these tests.
FILLED = (
    "conversations_account",
    "conversations_conversation",
    "conversations_headmove",
    "conversations_message",
    "conversations_messagepart",
    "conversations_toolcall",
    "conversations_generation",
    "conversations_exchange",
    "conversations_summary",
    "conversations_chunk",
    "conversations_conversationnote",
    "conversations_rawbody",
    "conversations_redactionspan",
    "ledger_tooleffect",
    "ledger_effectmove",
)


@pytest.mark.parametrize("table", FILLED)
def test_each_realm_sees_its_own_rows_and_no_other(eu, us, table):
    everything = count(table)
    with reading_as(EVERYWHERE):
        assert count(table) == everything
    with reading_as(eu.reach):
        of_eu = count(table)
    with reading_as(us.reach):
        of_us = count(table)
    with reading_as(NOWHERE):
        assert count(table) == 0

    assert of_eu > 0
    assert of_us > 0
    assert of_eu + of_us == everything == count(table)


def test_every_table_of_the_store_and_the_ledger_is_protected():
    """A new table that leads to a customer gets a policy: see console/migrations."""
    protected = {name for (name,) in rows("SELECT relname FROM pg_class WHERE relrowsecurity")}
    leading = rows(
        "SELECT DISTINCT table_name FROM information_schema.columns WHERE table_schema = 'public'"
        " AND column_name IN ('realm_id', 'account_id', 'conversation_id', 'effect_id')"
        " AND table_name ~ '^(conversations|ledger)_'"
    )

    assert {name for (name,) in leading} - protected == set()
    assert set(FILLED) <= protected


def test_two_realms_one_after_the_other_on_one_connection_never_leak(eu, us):
    for tenant in (eu, us, eu):
        with reading_as(tenant.reach):
            assert [conversation.pk for conversation in Conversation.objects.all()] == [
                tenant.conversation.pk
            ]
            assert standing() == ("counterfoil_read", str(tenant.realm.pk))
        assert standing() == ("counterfoil_app", "")
        assert Conversation.objects.count() == 2


def test_a_key_of_another_realm_is_not_there(eu, us):
    with reading_as(eu.reach):
        assert not Conversation.objects.filter(pk=us.conversation.pk).exists()
        assert find_by_id(term=us.call_id, realm_ids=None) == []
        assert find_by_prefix(prefix=us.call_id[:9], realm_ids=None) == []
        assert find_by_id(term=us.email, realm_ids=None) == []
        assert find_by_id(term=us.account.external_id, realm_ids=None) == []


def test_searches_find_the_same_as_the_application_does(eu, us):
    with reading_as(eu.reach):
        assert [hit.seq for hit in find_by_id(term=eu.call_id, realm_ids=None)] == [2]
        assert [hit.seq for hit in find_by_prefix(prefix=eu.call_id[:9], realm_ids=None)] == [2]
        assert [hit.account_id for hit in find_by_id(term=eu.email, realm_ids=None)] == [eu.account.pk]
        for words in ("hotel", "入場券"):
            assert [hit.conversation_id for hit in search_words(text=words, within=Within())] == [
                eu.conversation.pk
            ]
    assert len(search_words(text="hotel", within=Within())) == 2


def test_a_function_that_sees_every_row_tells_no_key_of_another_realm(eu, us):
    """Even with a realm asked for that the reading does not hold."""
    sql = (
        "SELECT conversation_id"
        " FROM conversations_find_places(to_tsquery('hotel'), '{}', '{}', '{}', %s, 9, '{}')"
    )
    with reading_as(eu.reach):
        assert rows(sql, None) == [(eu.conversation.pk,)]
        assert rows(sql, [eu.realm.pk, us.realm.pk]) == [(eu.conversation.pk,)]
        assert rows(sql, [us.realm.pk]) == []
        assert rows("SELECT * FROM conversations_accounts_with_email(%s, 9)", us.email) == []
    with reading_as(NOWHERE):
        assert rows(sql, None) == []


@pytest.mark.django_db(transaction=True, databases=["default", "reader"])
def test_the_readers_own_connection_sees_nothing_without_realms(eu):
    assert rows("SELECT count(*) FROM conversations_account", using="reader") == [(0,)]
    with transaction.atomic(using="reader"):
        rows("SELECT set_config('counterfoil.realms', %s, true)", str(eu.realm.pk), using="reader")
        assert rows("SELECT external_id FROM conversations_account", using="reader") == [("customer-eu",)]
    assert rows("SELECT count(*) FROM conversations_account", using="reader") == [(0,)]


def test_the_application_is_not_held_by_the_policies(eu, us):
    assert rows("SELECT row_security_active(%s::regclass)", "conversations_message") == [(False,)]
    assert rows("SELECT rolinherit FROM pg_roles WHERE rolname = 'counterfoil_app'") == [(False,)]
    assert {table for table in FILLED if count(table) == 0} == set()
