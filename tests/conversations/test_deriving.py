import pytest

from conversations.errors import StoreError
from conversations.models import Chunk, Message, MessagePart, Summary
from conversations.services.appending import append_message, edit_message
from conversations.services.deriving import cut_chunks, resolve_citation, write_summary
from conversations.services.heads import switch_head
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, user

pytestmark = pytest.mark.django_db


@pytest.fixture
def talk(conversation):
    """1 question, 2 answer, 3 thanks; 4 is another version of the question."""
    for message in (user("Zwei Nächte in Köln"), assistant("Gebucht."), user("Danke")):
        append_message(conversation_id=conversation.pk, message=message, actor=CUSTOMER, now=NOW)
    edit_message(conversation_id=conversation.pk, seq=1, message=user("Drei"), actor=CUSTOMER, now=NOW)
    return conversation


def summarise(talk, from_seq, to_seq):
    return write_summary(
        conversation_id=talk.pk, from_seq=from_seq, to_seq=to_seq, text="Hotel", prompt_version="s1", now=NOW
    )


def chunk_of(talk, *spans):
    return cut_chunks(conversation_id=talk.pk, seq=1, ordinal=0, spans=spans, chunking_version="c1", now=NOW)


@pytest.mark.parametrize(
    ("from_seq", "to_seq", "rule"),
    [(1, 9, "range-not-a-path"), (2, 4, "range-not-a-path"), (0, 3, "range-not-a-path")],
)
def test_a_summary_of_no_stretch_of_one_path_is_refused(talk, from_seq, to_seq, rule):
    with pytest.raises(StoreError) as refused:
        summarise(talk, from_seq, to_seq)

    assert refused.value.rule == rule
    assert not Summary.objects.exists()


def test_a_summary_goes_with_a_message_of_its_stretch(talk):
    summarise(talk, 1, 3)
    switch_head(conversation_id=talk.pk, seq=4, actor=CUSTOMER, now=NOW)

    Message.objects.filter(conversation=talk, seq=2).delete()

    assert not Summary.objects.exists()


def test_a_summary_is_emptied_when_a_message_of_its_stretch_loses_its_bytes(talk):
    summarise(talk, 1, 3)

    MessagePart.objects.filter(conversation=talk, seq=2).update(text=None, bytes_state="erased")

    summary = Summary.objects.get()
    assert summary.text == ""
    assert summary.invalidated_at is not None


def test_a_citation_gives_the_exact_words(talk):
    [chunk] = chunk_of(talk, (5, 12))

    assert resolve_citation(chunk_id=chunk.pk).words == "Nächte"


def test_chunks_are_cut_once_per_version(talk):
    chunk_of(talk, (0, 4), (5, 12))
    chunk_of(talk, (0, 4))

    assert list(Chunk.objects.order_by("byte_start").values_list("byte_start", "byte_end")) == [
        (0, 4),
        (5, 12),
    ]


@pytest.mark.parametrize("span", [(0, 99), (6, 7), (4, 4), (-1, 3)])
def test_a_span_that_is_no_words_of_the_text_is_refused(talk, span):
    with pytest.raises(StoreError, match="are no words of the text"):
        chunk_of(talk, span)

    assert not Chunk.objects.exists()


def test_a_citation_says_when_its_words_are_gone(talk):
    [chunk] = chunk_of(talk, (5, 12))

    MessagePart.objects.filter(conversation=talk, seq=1).update(text=None, bytes_state="stripped")

    assert resolve_citation(chunk_id=chunk.pk).reason == "chunk-gone"
