"""Elsewhere, what a court had asked for went by another path."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction

from access.models import Realm
from conversations.drafts import MessageDraft, PartDraft
from conversations.models import Conversation
from conversations.services.appending import append_message
from conversations.services.blobs import LARGE
from conversations.vocabulary import PartType, Role, SecretKind
from ledger.services.settling import settle_absent
from retention.errors import HeldError
from retention.services.holds import place_hold
from retention.services.redacting import redact_conversation
from tests.conversations.drafts import result
from tests.conversations.schema.rows import PRIVILEGE, execute, fetch, refused
from tests.retention.conftest import CUSTOMER, NOW, add_attempt, keep, remaining
from tests.retention.desk import erased, release

pytestmark = pytest.mark.django_db


class TestAHoldStandsOnEveryPath:
    """Purge, erasure, archive, redaction, and whatever somebody types into the database."""

    @pytest.fixture
    def held(self, bought, officer):
        """A conversation with a charge, an attempt and a large payload, held for two matters."""
        effect = bought
        settle_absent(effect_id=effect.pk, sent_at=None, actor=CUSTOMER, now=NOW)
        large = PartDraft(PartType.IMAGE, payload=b"y" * (LARGE + 1))
        message = MessageDraft(Role.USER, [result(effect.call_id), large])
        append_message(conversation_id=effect.conversation_id, message=message, actor=CUSTOMER, now=NOW)
        add_attempt(effect.conversation_id)
        self.holds = [
            place_hold(conversation_id=effect.conversation_id, matter=matter, user=officer, now=NOW)
            for matter in ("M-7", "M-8")
        ]
        return Conversation.objects.get(pk=effect.conversation_id)

    @pytest.fixture
    def whole(self, held):
        """Everything that the conversation had when it was held."""
        return self.rows(held)

    def rows(self, held):
        tables = ("message", "messagepart", "toolcall", "headmove", "generation")
        found = {
            table: fetch(
                f"SELECT t::text FROM conversations_{table} t WHERE conversation_id = %s ORDER BY 1", held.pk
            )
            for table in tables
        }
        found["blob"] = fetch("SELECT id::text, storage_key FROM conversations_blob")
        found["effect"] = fetch("SELECT id::text, call_seq::text FROM ledger_tooleffect")
        return found

    def test_the_purge_says_so(self, held, whole, run_purge):
        run = run_purge(now=NOW + timedelta(days=400))

        assert run.counts["conversations"] == {"due": 1, "hold": 1}
        assert self.rows(held) == whole

    def test_an_erasure_says_so(self, held, whole, officer, second):
        request = erased(held.account, officer=officer, second=second)

        assert request.state == "partly_done"
        step = request.steps.get(name="conversations")
        assert (step.state, step.kept, step.cause) == ("skipped", {"conversation": 1}, "Held: M-7; Held: M-8")
        assert self.rows(held) == whole

    def test_the_archive_says_so(self, held, whole, run_purge):
        keep(data_class="conversation_bytes", action="archive", days=1)

        run = run_purge(now=NOW + timedelta(days=2))

        assert run.counts["archive"] == {"due": 1, "hold": 1}
        assert self.rows(held) == whole

    def test_redaction_says_so(self, held, whole, officer):
        with pytest.raises(HeldError, match="M-7"):
            redact_conversation(conversation_id=held.pk, kinds=frozenset(SecretKind), user=officer, now=NOW)
        assert self.rows(held) == whole

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize(
        ("statement", "rule"),
        [
            ("DELETE FROM conversations_message", "retention_held_stays"),
            ("DELETE FROM conversations_conversation", "retention_held_stays"),
            ("DELETE FROM conversations_account", "retention_held_stays"),
            ("DELETE FROM conversations_generation", "retention_held_stays"),
            ("DELETE FROM conversations_messagepart", PRIVILEGE),
            ("DELETE FROM conversations_headmove", PRIVILEGE),
            ("DELETE FROM ledger_tooleffect", PRIVILEGE),
        ],
    )
    def test_statements_typed_by_hand_are_refused(self, held, whole, statement, rule):
        with refused(rule):
            execute(statement)
        assert self.rows(held) == whole

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("table", ["access_realm", "conversations_blob"])
    def test_neither_the_tenant_nor_the_blob_goes_from_under_it(self, held, whole, table):
        with pytest.raises(DatabaseError), transaction.atomic():
            execute(f"DELETE FROM {table}")
        assert self.rows(held) == whole
        assert Realm.objects.exists()

    def test_with_two_matters_it_stays_till_both_have_ended(self, held, officer, second, run_purge):
        late = NOW + timedelta(days=400)
        release(self.holds[0], officer, second)
        run_purge(now=late)
        assert remaining() == {held.pk}

        release(self.holds[1], officer, second)
        run_purge(now=late + timedelta(hours=6))

        assert remaining() == set()
