"""Two realms, each with a row of every kind, and SQL by the role that reads."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from django.contrib.auth.models import User
from django.db import connections, transaction

from access.models import Realm
from access.reach import Reach
from conversations.ids import mint_id
from conversations.models import RedactionSpan
from conversations.services.accounts import ensure_account
from conversations.services.notes import write_note
from conversations.services.starting import start_conversation
from ledger.services.policies import save_policy
from tests.conversations.schema.rows import insert
from tests.ledger.conftest import Talk

NOW = datetime(2026, 11, 24, 14, 5, tzinfo=UTC)
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


def rows(sql: str, *values: object, using: str = "default") -> list[tuple]:
    with connections[using].cursor() as cursor:
        cursor.execute(sql, values or None)
        return list(cursor.fetchall())


def count(table: str) -> int:
    return rows(f"SELECT count(*) FROM {table}")[0][0]


def standing() -> tuple[str, str]:
    return rows("SELECT current_user, coalesce(current_setting('counterfoil.realms', true), '')")[0]


@contextmanager
def without_scans() -> Iterator[None]:
    """On tables of a few rows a scan is cheapest; forbidden, it shows where no index would serve."""
    with transaction.atomic():
        rows("SELECT set_config('enable_seqscan', 'off', true)")
        yield
