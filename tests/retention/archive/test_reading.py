"""What is archived is read as if it were still in its rows."""

from datetime import timedelta

import pytest

from conversations.models import Conversation, Generation
from conversations.reads.window import read_window
from conversations.replay import next_body_at, request_body_of
from conversations.replay.bodies import DamagedError
from conversations.services.deriving import cut_chunks, resolve_citation, write_summary
from conversations.services.exporting import export_trees
from conversations.services.recording import record_exchange
from conversations.vocabulary import Dialect
from tests.conversations.recording.exchanges import answer, body
from tests.conversations.recording.exchanges import assistant as answered
from tests.conversations.recording.exchanges import text as said
from tests.conversations.recording.exchanges import user as says
from tests.retention.archive.conftest import COLD, damage, drafts_of, states_of
from tests.retention.conftest import CUSTOMER, NOW, keep

pytestmark = pytest.mark.django_db


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
