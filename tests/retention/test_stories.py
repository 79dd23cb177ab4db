"""What went wrong elsewhere when data had to go, or had to stay: each story from its beginning to its end."""

import json
import os
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction

from access.actors import Actor, ActorKind
from access.models import Realm
from conversations.drafts import MessageDraft, PartDraft
from conversations.errors import NotFoundError, StoreError
from conversations.models import (
    Account,
    Blob,
    Chunk,
    Conversation,
    ErasedSubject,
    Generation,
    MessagePart,
    RawBody,
    Summary,
)
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message
from conversations.services.blobs import LARGE
from conversations.services.deriving import cut_chunks, write_summary
from conversations.services.exporting import export_trees
from conversations.services.generations import Attempt, Outcome, begin_generation, finish_generation
from conversations.services.importing.importing import import_file
from conversations.services.raw_bodies import keep_raw_body
from conversations.services.starting import start_conversation
from conversations.vocabulary import Dialect, GenerationStatus, PartType, RawClass, Role, SecretKind
from jobs.models import JobRun
from jobs.services.starting import start_job
from ledger.services.settling import settle_absent
from retention.erasure.job import erase
from retention.errors import HeldError
from retention.models import ErasureRequest
from retention.purging import raw_bodies
from retention.purging.job import PURGE, purge
from retention.services import erasing
from retention.services.continuing import CONTINUE, continue_erasures
from retention.services.holds import approve_release, place_hold, request_release
from retention.services.reapplying import reapply_erasures
from retention.services.redacting import redact_conversation
from retention.vocabulary import IdentityCheck
from tests.conversations.drafts import assistant, result, user
from tests.conversations.schema.rows import PRIVILEGE, execute, fetch, refused
from tests.retention.conftest import CUSTOMER, NOW, remaining
from tests.retention.test_purge import add_attempt, keep

pytestmark = pytest.mark.django_db

NAME, EMAIL, EXTERNAL = "Quirina Sample", "q.sample@example.org", "cust-88417"
SECRET_WORDS = "the lighthouse keeper of Skagen"


def everywhere(words):
    """Every table and column type in which these words stand, as the server writes its rows out."""
    tables = fetch(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        " AND has_table_privilege(oid, 'SELECT')"
    )
    return [
        table
        for (table,) in tables
        if fetch(f'SELECT 1 FROM "{table}" t WHERE position(%s IN t::text) > 0 LIMIT 1', words)
    ]


def test_a_purged_conversation_is_in_no_store_any_more(make_talk, run_purge, folder):
    """Its document, chunks, summary and search entry go with it, and the run says how many of each."""
    talk = make_talk(words=SECRET_WORDS, title=SECRET_WORDS)
    document = PartDraft(PartType.DOCUMENT, payload=SECRET_WORDS.encode() + b"x" * LARGE)
    append_message(
        conversation_id=talk.id, message=MessageDraft(Role.USER, [document]), actor=CUSTOMER, now=NOW
    )
    write_summary(
        conversation_id=talk.id, from_seq=1, to_seq=2, text=SECRET_WORDS, prompt_version="v1", now=NOW
    )
    spans = [(0, 3), (4, 14), (15, 21)]
    cut_chunks(conversation_id=talk.id, seq=1, ordinal=0, spans=spans, chunking_version="v1", now=NOW)
    Blob.objects.update(created_at=NOW)

    run = run_purge()

    assert everywhere(SECRET_WORDS) == []
    assert not any(model.objects.exists() for model in (Blob, Chunk, Summary, MessagePart))
    assert [path for path in folder.rglob("*") if path.is_file()] == []
    counts = run.counts["conversations"]
    assert {name: counts[name] for name in ("conversation", "messagepart", "chunk", "summary")} == {
        "conversation": 1,
        "messagepart": 2,
        "chunk": 3,
        "summary": 1,
    }
    assert (run.counts["blobs"]["blob"], run.counts["files"]["file"]) == (1, 1)


class TestAHoldStandsOnEveryPath:
    """Purge, erasure, archive, redaction, and whatever somebody types into the database."""

    @pytest.fixture
    def held(self, bought, officer):
        """A conversation with a charge, an attempt and a large payload, held for two matters."""
        effect = bought
        settle_absent(effect_id=effect.pk, actor=CUSTOMER, now=NOW)
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

    def release(self, hold, officer, second):
        request_release(hold_id=hold.pk, user=officer, now=NOW)
        approve_release(hold_id=hold.pk, user=second, now=NOW)

    def test_the_purge_says_so(self, held, whole, run_purge):
        run = run_purge(now=NOW + timedelta(days=400))

        assert run.counts["conversations"] == {"due": 1, "hold": 1}
        assert self.rows(held) == whole

    def test_an_erasure_says_so(self, held, whole, officer, second):
        request = erased(held.account, officer, second)

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
        self.release(self.holds[0], officer, second)
        run_purge(now=late)
        assert remaining() == {held.pk}

        self.release(self.holds[1], officer, second)
        run_purge(now=late + timedelta(hours=6))

        assert remaining() == set()


class TestLargeRows:
    """Deletes that were too large for the server's statement timeout failed for ever, and silently."""

    @pytest.fixture
    def expired(self, make_talk):
        talk = make_talk()
        for _ in range(24):
            keep_raw_body(
                body=os.urandom(500_000), raw_class=RawClass.STREAM, conversation_id=talk.id, now=NOW
            )
        return talk

    @pytest.mark.django_db(transaction=True)
    def test_a_run_goes_through_in_batches_bounded_by_bytes(self, expired, monkeypatch):
        monkeypatch.setattr(raw_bodies, "BYTES_LIMIT", 2_000_000)
        keep(data_class="raw_bodies", action="purge", days=1)
        run = start_job(kind=PURGE, requested_by=("job", "test"), now=NOW)
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = '2s'")
        sizes: list[int] = []
        whole = raw_bodies.delete_raw_bodies

        def counted(ids):
            sizes.append(len(ids))
            return whole(ids)

        monkeypatch.setattr(raw_bodies, "delete_raw_bodies", counted)

        done = purge(run_id=run.pk, clock=lambda: NOW + timedelta(days=2), load_percent=100)

        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
        assert done.state == "succeeded"
        assert not RawBody.objects.exists()
        assert [size for size in sizes if size] == [4] * 6
        assert done.counts["raw_bodies"]["rawbody"] == 24


class TestWhoWasErasedStaysErased:
    """An erasure is a standing rule: after a hold, a restore, an import, a late answer."""

    @pytest.fixture
    def person(self, make_account):
        return make_account(external_id=EXTERNAL, label=NAME, email=EMAIL)

    @pytest.fixture
    def talks(self, person, make_talk):
        return [
            make_talk(account_id=person.pk, words=f"I am {NAME}", external_ref=f"crm:{n}") for n in range(3)
        ]

    def test_the_release_of_a_hold_finishes_the_request(self, person, talks, officer, second):
        hold = place_hold(conversation_id=talks[0].id, matter="M-8", user=officer, now=NOW)
        assert erased(person, officer, second).state == "partly_done"
        assert remaining() == {talks[0].id}
        request_release(hold_id=hold.pk, user=officer, now=NOW)
        approve_release(hold_id=hold.pk, user=second, now=NOW)

        run = start_job(kind=CONTINUE, requested_by=("job", "test"), now=NOW)
        continue_erasures(run_id=run.pk, clock=lambda: NOW)
        again = JobRun.objects.get(kind="retention.erase", state="queued")
        erase(run_id=again.pk, clock=lambda: NOW)

        assert ErasureRequest.objects.get().state == "done"
        assert remaining() == set()

    def test_who_came_back_with_a_restore_is_erased_again(self, person, talks, officer, second, make_talk):
        erased(person, officer, second)
        # As the backup had it: the account's row, and a conversation.
        back = Account.objects.create(
            id=person.pk, realm=person.realm, external_id=EXTERNAL, label=NAME, email=EMAIL, created_at=NOW
        )
        make_talk(account_id=back.pk, words=f"I am {NAME}")

        reapplied = reapply_erasures(now=NOW)

        assert [request.state for request in reapplied.requests] == ["done"]
        assert everywhere(NAME) == []

    def test_their_old_export_is_refused_and_counted(self, person, talks, officer, second, tmp_path, realm):
        old = tmp_path / "export.jsonl"
        old.write_bytes(b"".join(export_trees(Conversation.objects.all())))
        erased(person, officer, second)

        report = import_file(
            path=old, realm=realm, actor=Actor(ActorKind.IMPORTER), now=NOW, account="somebody-else"
        )

        assert report.counts["failed"] == 3
        assert "erased" in report.failed[0].text
        assert remaining() == set()

    def test_a_late_answer_finds_nothing_to_be_written_into(self, person, talks, officer, second):
        attempt = Attempt(
            request_id="r-1",
            provider="anthropic",
            dialect=Dialect.ANTHROPIC_MESSAGES,
            requested_model="claude-sonnet-4-5",
        )
        begun, _ = begin_generation(conversation_id=talks[0].id, leaf_seq=1, attempt=attempt, now=NOW)
        erased(person, officer, second)

        with pytest.raises(NotFoundError):
            finish_generation(
                conversation_id=talks[0].id,
                number=begun.number,
                outcome=Outcome(GenerationStatus.COMPLETE, message=assistant(f"Hello {NAME}")),
                actor=CUSTOMER,
                now=NOW,
            )
        with pytest.raises(StoreError):
            append_message(conversation_id=talks[0].id, message=user(NAME), actor=CUSTOMER, now=NOW)
        assert not Generation.objects.exists()
        assert everywhere(NAME) == []

    def test_the_list_holds_digests_only(self, person, talks, officer, second, realm):
        erased(person, officer, second)

        stored = json.dumps(
            [
                list(row)
                for row in fetch("SELECT kind, encode(digest, 'hex') FROM conversations_erasedsubject")
            ]
        )

        assert ErasedSubject.objects.count() == 9
        assert not [name for name in (NAME, EMAIL, EXTERNAL) if name in stored]
        with pytest.raises(StoreError):
            ensure_account(realm=realm, external_id=EXTERNAL, now=NOW)
        other = ensure_account(realm=realm, external_id="other", now=NOW)
        with pytest.raises(StoreError):
            start_conversation(account_id=other.pk, now=NOW, external_ref="crm:1")


def erased(account, officer, second):
    """Take a person through the desk to the end, as two people do."""
    request = erasing.take_in(
        realm_id=account.realm_id, account_ids=[account.pk], received_at=NOW, now=NOW, user=officer
    )
    erasing.check_identity(request_id=request.pk, how=IdentityCheck.DOCUMENT, user=officer, now=NOW)
    erasing.prepare_preview(request_id=request.pk, user=officer, now=NOW)
    run = erasing.approve_erasure(request_id=request.pk, user=second, now=NOW)
    erase(run_id=run.pk, clock=lambda: NOW)
    return ErasureRequest.objects.get(pk=request.pk)
