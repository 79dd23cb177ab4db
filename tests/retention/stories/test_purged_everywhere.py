"""Elsewhere, what was purged lived on in indexes, summaries and files."""

import pytest

from conversations.drafts import MessageDraft, PartDraft
from conversations.models import Blob, Chunk, MessagePart, Summary
from conversations.services.appending import append_message
from conversations.services.blobs import LARGE
from conversations.services.deriving import cut_chunks, write_summary
from conversations.vocabulary import PartType, Role
from tests.retention.conftest import CUSTOMER, NOW, sweep_files
from tests.retention.stores import everywhere, files_in

pytestmark = pytest.mark.django_db


SECRET_WORDS = "the lighthouse keeper of Skagen"


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
    sweep_files()

    assert everywhere(SECRET_WORDS) == []
    assert not any(model.objects.exists() for model in (Blob, Chunk, Summary, MessagePart))
    assert files_in(folder) == []
    counts = run.counts["conversations"]
    assert {name: counts[name] for name in ("conversation", "messagepart", "chunk", "summary")} == {
        "conversation": 1,
        "messagepart": 2,
        "chunk": 3,
        "summary": 1,
    }
    assert run.counts["blobs"]["blob"] == 1
