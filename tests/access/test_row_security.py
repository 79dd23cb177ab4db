"""What counterfoil_read sees of customers' rows, as PostgreSQL itself decides it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, connections, transaction

from access.actors import Actor, ActorKind
from access.models import AccessEntry, Realm
from access.models.log import AccessAction, TargetKind
from access.reach import Reach
from access.reading import as_application, is_reading, reading_as, reading_rows
from access.services.logging import log_access
from conversations.ids import mint_id
from conversations.models import Account, Conversation, Message, RedactionSpan
from conversations.search.lookup import find_by_id, find_by_prefix
from conversations.search.words import Within, search_words
from conversations.services.accounts import ensure_account
from conversations.services.notes import write_note
from conversations.services.starting import start_conversation
from ledger.services.policies import save_policy
from tests.conversations.schema.rows import insert
from tests.ledger.conftest import Talk

pytestmark = [pytest.mark.schema, pytest.mark.django_db]

NOW = datetime(2026, 11, 24, 14, 5, tzinfo=UTC)
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


CHARGING = {
    "effectful": "yes",
    "replay_policy": "ask",
    "key_scope": "branch_root",
    "operation": "charge",
    "processor": "stripe",
    "amount_path": "amount",
    "currency_path": "currency",
}


def staff() -> User:
    return User.objects.get_or_create(username="maja")[0]


class Tenant:
    """A realm with one customer, and a row of each kind about what was said to them."""

    def __init__(self, slug: str) -> None:
        self.realm = Realm.objects.create(slug=slug, name=slug, created_at=NOW)
        self.reach = Reach(realm_ids=frozenset({self.realm.pk}))
        self.call_id = f"toolu_{slug}_0001"
        self.email = f"ines@{slug}.example"
        self.account = ensure_account(
            realm=self.realm, external_id=f"customer-{slug}", email=self.email.upper(), now=NOW
        )
        self.conversation = start_conversation(account_id=self.account.pk, now=NOW)
        save_policy(realm=self.realm, name="charge_card", user=staff(), now=NOW, **CHARGING)
        talk = Talk(self.conversation)
        talk.says(f"a hotel in {slug} 入場券")
        talk.begins(talk.calls(self.call_id), self.call_id)
        self._hang_rows()

    def _hang_rows(self) -> None:
        key = self.conversation.pk
        write_note(conversation_id=key, author=staff(), text="called back", ticket="", now=NOW)
        insert("generation", conversation_id=key, number=1, leaf_seq=1)
        insert("exchange", conversation_id=key, number=1, realm_id=self.realm.pk, exchange_id="x-1")
        insert("summary", id=mint_id(NOW), conversation_id=key, from_seq=1, to_seq=1)
        insert("chunk", id=mint_id(NOW), conversation_id=key, seq=1, ordinal=0)
        insert("rawbody", id=mint_id(NOW), raw_class="request", conversation_id=key)
        RedactionSpan.objects.create(
            conversation_id=key, side="part", kind="card", seq=1, ordinal=0, start=0, end=4, cut_at=NOW
        )


@pytest.fixture
def eu() -> Tenant:
    return Tenant("eu")


@pytest.fixture
def us() -> Tenant:
    return Tenant("us")


def rows(sql: str, *values: object, using: str = "default") -> list[tuple]:
    with connections[using].cursor() as cursor:
        cursor.execute(sql, values or None)
        return list(cursor.fetchall())


def count(table: str) -> int:
    return rows(f"SELECT count(*) FROM {table}")[0][0]


def standing() -> tuple[str, str]:
    return rows("SELECT current_user, coalesce(current_setting('counterfoil.realms', true), '')")[0]


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


@pytest.mark.django_db(transaction=True)
def test_outside_a_transaction_the_connection_goes_back_as_it_came(eu, us):
    with reading_as(eu.reach):
        assert Account.objects.get() == eu.account
    assert rows("SELECT current_user, current_setting('role')") == [("counterfoil_app", "none")]
    with reading_as(us.reach):
        assert Account.objects.get() == us.account
    assert standing() == ("counterfoil_app", "")
    assert Account.objects.count() == 2


def fail(error: type[Exception]) -> None:
    if error is DatabaseError:
        rows("SELECT 1 / 0")
    raise ValueError


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", [ValueError, DatabaseError])
def test_an_error_ends_the_reading_too(eu, us, error):
    with pytest.raises(error), reading_as(eu.reach):
        fail(error)

    assert not is_reading()
    assert standing() == ("counterfoil_app", "")
    with reading_as(us.reach):
        assert Account.objects.get() == us.account


def test_an_error_within_a_larger_transaction_ends_the_reading_alone(eu, us):
    with pytest.raises(ValueError, match="x"), reading_as(eu.reach):
        raise ValueError("x")

    assert not is_reading()
    assert standing() == ("counterfoil_app", "")
    assert Account.objects.count() == 2


def test_a_statement_that_was_prepared_for_one_realm_is_planned_anew_for_another(eu, us):
    """The driver prepares a statement that comes again and again."""
    for tenant in (eu, us) * 8:
        with reading_as(tenant.reach):
            assert [message.conversation_id for message in Message.objects.filter(seq=1)] == [
                tenant.conversation.pk
            ]
    assert Message.objects.filter(seq=1).count() == 2


def test_nothing_can_be_written_while_reading(eu):
    with pytest.raises(DatabaseError, match="permission denied"), reading_as(eu.reach):
        Conversation.objects.filter(pk=eu.conversation.pk).update(title="changed")

    assert Conversation.objects.get().title == ""


def test_what_has_to_be_written_steps_out_and_the_reading_goes_on(eu, us):
    with reading_as(eu.reach):
        log_access(
            actor=Actor(ActorKind.STAFF, "7"), action=AccessAction.OPEN, target_kind=TargetKind.PAGE, now=NOW
        )
        assert standing() == ("counterfoil_read", str(eu.realm.pk))
        with as_application():
            assert Account.objects.count() == 2
        with pytest.raises(ValueError, match="x"), as_application():
            raise ValueError("x")
        assert Account.objects.get() == eu.account

    assert AccessEntry.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_export_that_is_taken_row_by_row_stays_within_its_realm(eu, us):
    """Each line is taken while the view has long returned, and another realm reads in between elsewhere."""
    exported = reading_rows(eu.reach, lambda: Message.objects.order_by("conversation_id", "seq").iterator(1))

    first = next(exported)
    assert is_reading()
    rest = list(exported)

    assert {message.conversation_id for message in (first, *rest)} == {eu.conversation.pk}
    assert standing() == ("counterfoil_app", "")


@pytest.mark.django_db(transaction=True)
def test_an_export_that_nobody_takes_to_its_end_leaves_the_connection_clean(eu, us):
    exported = reading_rows(eu.reach, lambda: Message.objects.order_by("seq").iterator(1))
    next(exported)

    exported.close()

    assert not is_reading()
    assert standing() == ("counterfoil_app", "")
    assert not connection.in_atomic_block


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


@contextmanager
def without_scans() -> Iterator[None]:
    """On tables of a few rows a scan is cheapest; forbidden, it shows where no index would serve."""
    with transaction.atomic():
        rows("SELECT set_config('enable_seqscan', 'off', true)")
        yield


LOOK_UPS = {
    "a call by its id": "conversations_messagepart WHERE tool_call_id = 'toolu_eu_0001'",
    "a call by the beginning of its id": (
        "conversations_messagepart WHERE tool_call_id ~>=~ 'toolu_eu' AND tool_call_id ~<~ 'toolu_ev'"
    ),
    "a message by its client's id": "conversations_message WHERE client_message_id = 'm-1'",
    "an attempt by its response": (
        "conversations_generation WHERE provider_response_id = 'msg_1' AND provider_response_id <> ''"
    ),
    "an attempt by its request": "conversations_generation WHERE request_id = 'r-1'",
    "a conversation by the beginning of its id": (
        "conversations_conversation WHERE id BETWEEN '0198f000-0000-0000-0000-000000000000'"
        " AND '0198ffff-ffff-ffff-ffff-ffffffffffff'"
    ),
    "a conversation at its source": (
        "conversations_conversation WHERE external_ref = 'x' AND external_ref <> ''"
    ),
    "an account by the customer's id": "conversations_account WHERE external_id = 'customer-eu'",
    "the newest conversations": "conversations_conversation ORDER BY last_activity_at DESC, id DESC LIMIT 50",
    "an effect by its reference": "ledger_tooleffect WHERE external_ref = 'ch_1' AND external_ref <> ''",
    "the messages of a conversation": (
        "conversations_message WHERE conversation_id = '0198f000-0000-0000-0000-000000000000'"
    ),
}


@pytest.mark.parametrize("sought", LOOK_UPS)
def test_each_look_up_is_an_index_probe_under_the_policies(eu, sought):
    with reading_as(eu.reach), without_scans():
        plan = "\n".join(line for (line,) in rows(f"EXPLAIN SELECT * FROM {LOOK_UPS[sought]}"))

    assert "Index" in plan
    assert "Seq Scan" not in plan


def test_an_e_mail_is_looked_up_past_the_policies_because_lower_may_not_see_rows_first(eu):
    sql = "EXPLAIN SELECT id FROM conversations_account WHERE lower(email) = 'x' AND email <> ''"
    with without_scans():
        assert "account_email" in "\n".join(line for (line,) in rows(sql))
        with reading_as(eu.reach):
            assert "Index Cond: (lower" not in "\n".join(line for (line,) in rows(sql))


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
