"""The archive: bytes of cold conversations in one file, read from there, brought back from there."""

from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from django.db import connection, transaction

from conversations.archive.opening import ArchiveError, open_archive
from conversations.drafts import MessageDraft, PartDraft
from conversations.errors import NotFoundError
from conversations.models import Archive, Blob, Conversation, Generation, Message, MessagePart, ToolCall
from conversations.reads.path import read_path
from conversations.reads.window import read_window
from conversations.replay import next_body_at, request_body_of
from conversations.replay.bodies import DamagedError
from conversations.services.appending import append_message
from conversations.services.blobs import LARGE, blob_storage
from conversations.services.deriving import cut_chunks, resolve_citation, write_summary
from conversations.services.exporting import export_trees
from conversations.services.heads import switch_head
from conversations.services.recording import record_exchange
from conversations.vocabulary import Dialect, PartType, Role
from retention.archiving import archive_bytes
from retention.locks import lock_accounts, lock_conversations
from retention.models import ArchiveReturn, DoomedFile
from retention.services.bringing_back import bring_back
from retention.services.holds import place_hold
from tests.conversations.drafts import assistant, calls, results, user
from tests.conversations.recording.exchanges import answer, body
from tests.conversations.recording.exchanges import assistant as answered
from tests.conversations.recording.exchanges import text as said
from tests.conversations.recording.exchanges import user as says
from tests.conversations.schema.rows import execute, refused
from tests.conversations.writers import at_once
from tests.retention.conftest import CUSTOMER, NOW, remaining
from tests.retention.test_purge import keep

pytestmark = pytest.mark.django_db

COLD = NOW + timedelta(days=31)
_ROWS = (
    "SELECT p.seq, p.ordinal, p.bytes_state, p.text, p.payload, p.shell, p.is_text_copy, b.sha256"
    " FROM conversations_messagepart p LEFT JOIN conversations_blob b ON b.id = p.blob_id"
    " WHERE conversation_id = %s ORDER BY 1, 2"
)


@pytest.fixture
def archive_after_30(db):
    keep(data_class="conversation_bytes", action="archive", days=30)


@pytest.fixture
def full(make_talk):
    """A conversation with every way in which a part holds bytes: text, payload, shell, blob, not UTF-8."""
    talk = make_talk(words="Where is order 1042?")
    odd = MessageDraft(  # noqa: S604  (a message's shell is JSON)
        role=Role.USER,
        shell='{"role":"user","name":"zoë","content":[\x03]}',
        parts=[
            PartDraft(PartType.TEXT, "and this", None, '{"text":\x02,"type":"text"}'),
            PartDraft(PartType.IMAGE, payload=b'{"type":"image","data":"' + b"A" * LARGE + b'"}'),
            PartDraft(PartType.OTHER, payload=b"\xff\xfe\x00", provider_type="odd"),
            PartDraft(
                PartType.TEXT,
                text="nul \ufffd",
                payload=b'{"type":"text","text":"\\u0000"}',
                is_text_copy=True,
            ),
        ],
    )
    for message in (calls("t1"), results("t1"), odd, assistant("On its way.")):
        append_message(conversation_id=talk.id, message=message, actor=CUSTOMER, now=NOW)
    return talk


def rows_of(talk):
    with connection.cursor() as cursor:
        cursor.execute(_ROWS, [talk.id])
        return [
            [bytes(one) if isinstance(one, memoryview) else one for one in row] for row in cursor.fetchall()
        ]


def states_of(talk):
    return set(MessagePart.objects.filter(conversation_id=talk.id).values_list("bytes_state", flat=True))


def drafts_of(talk):
    head = Conversation.objects.get(pk=talk.id).head_seq
    return [message.draft for message in read_path(conversation_id=talk.id, leaf_seq=head)]


def damage(talk):
    path = Path(blob_storage().path(Archive.objects.get(pk=talk.id).storage_key))
    whole = path.read_bytes()
    path.write_bytes(whole[:20] + b"damage" + whole[26:])


def test_the_bytes_leave_and_every_row_stays(full, archive_after_30, run_purge):
    kept = Message.objects.count(), MessagePart.objects.count(), ToolCall.objects.count()

    run = run_purge(now=COLD)

    archive = Archive.objects.get(pk=full.id)
    assert states_of(full) == {"archived"}
    assert (Message.objects.count(), MessagePart.objects.count(), ToolCall.objects.count()) == kept
    assert not Message.objects.exclude(shell=None).exists()
    assert MessagePart.objects.get(type="tool_use").payload is None
    assert (archive.part_count, archive.next_seq) == (8, 6)
    assert run.counts["archive"] == {
        "due": 1,
        "gone": 1,
        "messagepart_archived": 8,
        "bytes_archived": archive.byte_count,
        "file_bytes": archive.size,
    }
    assert blob_storage().size(archive.storage_key) == archive.size


def test_nothing_due_is_archived(full, archive_after_30, run_purge):
    run_purge(now=NOW + timedelta(days=30))

    assert states_of(full) == {"present"}


def test_a_dry_run_counts_and_leaves_no_file(full, archive_after_30, run_purge, folder):
    files = sorted(folder.rglob("*"))

    run = run_purge(now=COLD, is_dry_run=True)

    assert run.counts["archive"]["messagepart_archived"] == 8
    assert states_of(full) == {"present"}
    assert sorted(folder.rglob("*")) == files


def test_reading_shows_the_very_bytes_and_writes_nothing_back(full, archive_after_30, run_purge):
    before, exported = drafts_of(full), list(export_trees(Conversation.objects.all()))

    run_purge(now=COLD)

    assert drafts_of(full) == before
    assert list(export_trees(Conversation.objects.all())) == exported
    assert states_of(full) == {"archived"}


def test_a_window_of_the_page_is_as_it_was(full, archive_after_30, run_purge):
    before = read_window(conversation_id=full.id, seqs=[1, 2, 3, 4, 5], with_bytes=True)

    run_purge(now=COLD)

    shown = read_window(conversation_id=full.id, seqs=[1, 2, 3, 4, 5], with_bytes=True)
    for seq, message in before.items():
        for one, other in zip(message.parts, shown[seq].parts, strict=True):
            assert other.is_from_archive
            assert (one.text, one.payload, one.shell, one.size, one.bytes_state) == (
                other.text,
                other.payload,
                other.shell,
                other.size,
                other.bytes_state,
            )


def test_bringing_back_gives_every_row_its_bytes(full, archive_after_30, run_purge, officer):
    before, arguments = rows_of(full), ToolCall.objects.get().arguments
    run_purge(now=COLD)
    key = Archive.objects.get().storage_key

    assert bring_back(conversation_id=full.id, user=officer, now=COLD) == 8

    assert rows_of(full) == before
    assert ToolCall.objects.get().arguments == arguments
    assert Message.objects.get(seq=4).shell == '{"role":"user","name":"zoë","content":[\x03]}'
    assert not Archive.objects.exists()
    assert DoomedFile.objects.get().storage_key == key


def test_what_was_brought_back_is_left_alone_for_a_while(full, archive_after_30, run_purge, officer):
    run_purge(now=COLD)
    bring_back(conversation_id=full.id, user=officer, now=COLD)

    run_purge(now=COLD + timedelta(days=29))
    assert states_of(full) == {"present"}
    run_purge(now=COLD + timedelta(days=31))

    assert states_of(full) == {"archived"}


def test_an_archived_conversation_that_goes_on_is_archived_whole_again(full, archive_after_30, run_purge):
    run_purge(now=COLD)
    first = Archive.objects.get()
    append_message(conversation_id=full.id, message=user("Thanks!"), actor=CUSTOMER, now=COLD)
    before = drafts_of(full)

    run_purge(now=COLD + timedelta(days=31))

    again = Archive.objects.get()
    assert (first.part_count, again.part_count) == (8, 9)
    assert drafts_of(full) == before
    assert not blob_storage().exists(first.storage_key)


def test_a_held_conversation_is_not_archived(full, archive_after_30, run_purge, officer):
    place_hold(conversation_id=full.id, matter="M-7", user=officer, now=NOW)

    run = run_purge(now=COLD)

    assert states_of(full) == {"present"}
    assert run.counts["archive"] == {"due": 1, "hold": 1}


def test_a_held_conversation_can_be_brought_back(full, archive_after_30, run_purge, officer):
    run_purge(now=COLD)
    place_hold(conversation_id=full.id, matter="M-7", user=officer, now=COLD)

    bring_back(conversation_id=full.id, user=officer, now=COLD)

    assert states_of(full) == {"present"}


def test_the_file_goes_after_its_conversation(full, archive_after_30, run_purge):
    run_purge(now=COLD)
    key = Archive.objects.get().storage_key

    run_purge(now=NOW + timedelta(days=91))

    assert remaining() == set()
    assert not blob_storage().exists(key)
    assert not DoomedFile.objects.exists()


def test_stripping_takes_the_archive_too(full, archive_after_30, run_purge):
    run_purge(now=COLD)
    key = Archive.objects.get().storage_key
    keep(data_class="conversation_bytes", action="strip", days=40, effective_from=COLD)

    run_purge(now=NOW + timedelta(days=41))

    assert states_of(full) == {"stripped"}
    assert not blob_storage().exists(key)


def test_stripping_tool_payloads_makes_a_new_file_without_them(full, archive_after_30, run_purge):
    run_purge(now=COLD)
    keep(data_class="tool_payloads", action="strip", days=40, effective_from=COLD)

    run_purge(now=NOW + timedelta(days=41))

    assert states_of(full) == {"stripped", "archived"}
    assert Archive.objects.get().part_count == 6
    kept = open_archive(conversation_id=full.id).parts
    assert {seq for seq, _ in kept} == {1, 4, 5}


def test_purging_branches_makes_a_new_file_without_them(full, archive_after_30, run_purge):
    switch_head(conversation_id=full.id, seq=4, actor=CUSTOMER, now=NOW)
    append_message(conversation_id=full.id, message=assistant("Lost."), actor=CUSTOMER, now=NOW)
    run_purge(now=COLD)
    keep(data_class="abandoned_branches", action="purge", days=40, effective_from=COLD)

    run_purge(now=NOW + timedelta(days=41))

    assert Archive.objects.get().part_count == 8
    assert (5, 0) not in open_archive(conversation_id=full.id).parts


def test_blobs_that_only_the_archive_has_are_swept_and_come_back(full, archive_after_30, run_purge, officer):
    before = rows_of(full)
    Blob.objects.update(created_at=NOW)
    run_purge(now=COLD)
    assert not Blob.objects.exists()

    bring_back(conversation_id=full.id, user=officer, now=COLD)

    assert rows_of(full) == before


class TestReplay:
    """Bodies that were recorded are given back byte for byte from the archive, and go on from it."""

    @pytest.fixture
    def recorded(self, account):
        keep(data_class="conversation_bytes", action="archive", days=5)
        first = body(says("Where is order 1042?"), is_spaced=True)
        record(account, first, answer("It is on its way."))
        return Conversation.objects.get(account=account), first

    def test_a_sent_body_is_the_same(self, recorded, run_purge):
        conversation, sent = recorded
        run_purge(now=NOW + timedelta(days=6))
        assert states_of(conversation) == {"archived"}

        assert request_body_of(conversation_id=conversation.pk, number=1) == sent

    def test_the_customer_goes_on_from_it(self, account, recorded, run_purge):
        conversation, _ = recorded
        run_purge(now=NOW + timedelta(days=6))
        following = body(
            says("Where is order 1042?"),
            answered(said("It is on its way.")),
            says("And now?"),
            is_spaced=True,
        )

        record(account, following, answer("Tomorrow."))

        assert Conversation.objects.get(account=account).pk == conversation.pk
        attempt = Generation.objects.get(number=2)
        assert attempt.body_proof == "exact"
        assert request_body_of(conversation_id=conversation.pk, number=2) == following

    def test_a_damaged_file_is_named(self, recorded, run_purge):
        conversation, _ = recorded
        run_purge(now=NOW + timedelta(days=6))
        damage(conversation)

        with pytest.raises(DamagedError, match="checksum differs"):
            request_body_of(conversation_id=conversation.pk, number=1)
        with pytest.raises(DamagedError, match="checksum differs"):
            next_body_at(conversation_id=conversation.pk, leaf_seq=conversation.head_seq)


def record(account, request, response):
    record_exchange(
        account=account,
        request_body=request,
        response_body=response,
        dialect=Dialect.ANTHROPIC_MESSAGES,
        actor=CUSTOMER,
        now=NOW,
    )


def test_a_damaged_file_says_so_and_nothing_changes(full, archive_after_30, run_purge, officer):
    run_purge(now=COLD)
    damage(full)

    with pytest.raises(ArchiveError, match="not the one that was written"):
        bring_back(conversation_id=full.id, user=officer, now=COLD)

    assert states_of(full) == {"archived"}
    assert not ArchiveReturn.objects.exists()
    shown = read_window(conversation_id=full.id, seqs=[1], with_bytes=True)[1].parts[0]
    assert (shown.text, "checksum differs" in shown.archive_trouble) == (None, True)
    message = read_path(conversation_id=full.id, leaf_seq=1)[0]
    assert (message.lost_parts, "checksum differs" in message.lost_why) == ([0], True)


def test_a_missing_file_says_so(full, archive_after_30, run_purge):
    run_purge(now=COLD)
    blob_storage().delete(Archive.objects.get().storage_key)

    with pytest.raises(ArchiveError, match="not in blob storage"):
        open_archive(conversation_id=full.id)


def test_what_cannot_be_opened_stands_against_a_step_that_needs_it(full, archive_after_30, run_purge):
    run_purge(now=COLD)
    damage(full)
    keep(data_class="tool_payloads", action="strip", days=40, effective_from=COLD)

    run = run_purge(now=NOW + timedelta(days=41))

    assert run.state == "succeeded"
    assert run.counts["tool_payloads"]["archive"] == 1
    assert states_of(full) == {"archived"}


def test_summaries_and_chunks_of_archived_words_stay_true(full, archive_after_30, run_purge):
    summary = write_summary(
        conversation_id=full.id, from_seq=1, to_seq=1, text="An order.", prompt_version="v1", now=NOW
    )
    chunk = cut_chunks(
        conversation_id=full.id, seq=1, ordinal=0, spans=[(9, 14)], chunking_version="v1", now=NOW
    )[0]

    run_purge(now=COLD)

    summary.refresh_from_db()
    assert summary.text == "An order."
    assert resolve_citation(chunk_id=chunk.pk).words == "order"


@pytest.mark.django_db(transaction=True)
def test_what_is_said_while_it_is_archived_is_lost_by_nobody(make_talk, archive_after_30, run_purge, officer):
    """Writers, the archive, and somebody who brings it back, all at once."""
    talk = make_talk(words="first")

    def say(number):
        append_message(conversation_id=talk.id, message=user(f"word {number}"), actor=CUSTOMER, now=NOW)

    def archive():
        with transaction.atomic():
            lock_accounts([Conversation.objects.get(pk=talk.id).account_id])
            lock_conversations([talk.id], waits=True)
            archive_bytes(conversation_id=talk.id, now=NOW)

    def return_all():
        try:
            bring_back(conversation_id=talk.id, user=officer, now=NOW)
        except NotFoundError:
            return

    outcomes = at_once(
        *[partial(say, number) for number in range(6)], archive, return_all, archive, return_all
    )

    assert [one for one in outcomes if isinstance(one, Exception)] == []
    words = {part.text for draft in drafts_of(talk) for part in draft.parts}
    assert words == {"first", *(f"word {number}" for number in range(6))}
    archived = MessagePart.objects.filter(bytes_state="archived").exists()
    assert Archive.objects.exists() == archived


@pytest.mark.django_db(transaction=True)
class TestTheDatabaseRefuses:
    """What the application's role may not do to an archive with statements of its own."""

    @pytest.fixture
    def archived(self, full, archive_after_30, run_purge):
        run_purge(now=COLD)
        return full

    def test_a_part_without_its_archive(self, full):
        with refused("conversations_part_has_its_archive"):
            execute(
                "UPDATE conversations_messagepart SET text = NULL, payload = NULL, shell = NULL,"
                " blob_id = NULL, is_text_copy = false, bytes_state = 'archived'"
            )

    def test_letting_an_archive_go_that_is_needed(self, archived):
        with refused("conversations_archive_is_needed"):
            execute("DELETE FROM conversations_archive")

    def test_another_file_in_its_place(self, archived):
        with refused("conversations_archive_written_once"):
            execute("UPDATE conversations_archive SET storage_key = 'aa/other'")

    def test_bytes_that_come_back_by_themselves(self, archived):
        with refused("conversations_part_only_loses_bytes"):
            execute("UPDATE conversations_messagepart SET text = 'made up', bytes_state = 'present'")

    def test_a_return_that_does_not_end(self, archived):
        with refused("conversations_archive_return_ends"):
            execute("UPDATE conversations_archive SET is_returning = true")

    def test_other_bytes_than_were_archived(self, archived):
        with refused("conversations_archive_comes_back_whole"):
            return_other_bytes()

    def test_taking_archived_bytes_of_what_is_held(self, archived, officer):
        place_hold(conversation_id=archived.id, matter="M-7", user=officer, now=COLD)
        with refused("retention_held_stays"):
            execute("UPDATE conversations_messagepart SET bytes_state = 'erased'")


def return_other_bytes():
    with transaction.atomic():
        execute("UPDATE conversations_archive SET is_returning = true")
        execute("UPDATE conversations_messagepart SET text = 'made up', bytes_state = 'present'")
        execute("DELETE FROM conversations_archive")
