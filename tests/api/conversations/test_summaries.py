"""Summaries and citations: derived text with what it was derived from."""

import hashlib

import pytest

from access.models import AccessEntry
from access.models.log import AccessAction
from conversations.models import Chunk, MessagePart, RedactionSwitch, Summary
from tests.api.answers import refusal
from tests.api.conversations.talking import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def travelled(talk):
    """1 two nights, 2 booked; 3 is another version of 1."""
    talk.append(text("Zwei Nächte in Köln"))
    talk.append(text("Gebucht."), role="assistant")
    talk.post("/messages/1/edit", {"parts": [text("Drei Nächte")]})
    return talk


def summarise(talk, first, last, **fields):
    body = {
        "from_id": talk.message_id(first),
        "to_id": talk.message_id(last),
        "text": "A hotel in Cologne.",
        "prompt_version": "s1",
    }
    return talk.post("/summaries", body | fields)


def test_a_summary_is_stored_and_read_with_its_range(travelled):
    written = summarise(travelled, 1, 2, model="claude-haiku-4-5", token_count=6)
    assert written.status_code == 201
    told = travelled.get("/summaries").json()
    assert told["data"] == [written.json()]
    assert (told["data"][0]["from_id"], told["data"][0]["to_id"]) == (
        travelled.message_id(1),
        travelled.message_id(2),
    )
    entry = AccessEntry.objects.filter(action=AccessAction.API_READ).latest("id")
    assert (entry.target_kind, entry.row_count) == ("conversation", 1)


def test_secrets_are_cut_out_of_a_summary(travelled, realm):
    RedactionSwitch.objects.create(realm=realm, kinds=["card"], set_at="2026-01-01T00:00:00Z")
    written = summarise(travelled, 1, 2, text="Paid by 4242 4242 4242 4242.")
    assert written.json()["text"] == "Paid by [cut: card number]."
    assert Summary.objects.get().text == "Paid by [cut: card number]."


@pytest.mark.parametrize(("first", "last", "status"), [(2, 3, 422), (2, 1, 422), (1, 9, 404), (0, 1, 404)])
def test_a_range_that_is_no_stretch_of_one_path_is_refused(travelled, first, last, status):
    assert summarise(travelled, first, last).status_code == status
    assert not Summary.objects.exists()


@pytest.mark.parametrize(
    "fields",
    [{"text": ""}, {"text": "a\x00b"}, {"token_count": -1}, {"is_pinned": "perhaps"}, {"from_id": None}],
)
def test_a_summary_that_cannot_be_taken(travelled, fields):
    assert summarise(travelled, 1, 2, **fields).status_code == 400
    assert not Summary.objects.exists()


def test_a_summary_of_lost_bytes_says_so(travelled):
    summarise(travelled, 1, 2)
    MessagePart.objects.filter(seq=2).update(text=None, bytes_state="erased")
    [told] = travelled.get("/summaries").json()["data"]
    assert told["text"] == ""
    assert told["invalidated_at"] is not None


def test_a_key_that_is_repeated_writes_one_summary(travelled):
    for _ in range(2):
        assert (
            travelled.post(
                "/summaries",
                {
                    "from_id": travelled.message_id(1),
                    "to_id": travelled.message_id(2),
                    "text": "A hotel.",
                    "prompt_version": "s1",
                },
                HTTP_IDEMPOTENCY_KEY="s-1",
            ).status_code
            == 201
        )
    assert Summary.objects.count() == 1


def test_the_number_of_queries_of_the_list_is_fixed(travelled, django_assert_num_queries):
    summarise(travelled, 1, 2)
    travelled.get("/summaries")
    # The key; the reader's transaction, role and the end of both; the conversation; the summaries;
    # the log's row, stepping out of the role and back.
    with django_assert_num_queries(10):
        travelled.get("/summaries")
    for _ in range(5):
        summarise(travelled, 1, 2)
    with django_assert_num_queries(10):
        travelled.get("/summaries")


def cut(talk, *spans, **fields):
    body = {"message_id": talk.message_id(1), "spans": spans, "chunking_version": "c1"}
    return talk.post("/chunks", body | fields)


def test_a_chunk_cites_the_exact_words(travelled):
    chunks = cut(travelled, [0, 12], [16, 21])
    assert chunks.status_code == 200
    first, second = chunks.json()["data"]
    told = travelled.get(f"/chunks/{first['id']}/citation").json()
    assert (told["words"], told["sha256"]) == (
        "Zwei Nächte",
        hashlib.sha256("Zwei Nächte".encode()).hexdigest(),
    )
    assert travelled.get(f"/chunks/{second['id']}/citation").json()["words"] == "Köln"
    assert cut(travelled, [0, 12]).json()["data"] == chunks.json()["data"]
    entry = AccessEntry.objects.filter(action=AccessAction.API_READ).latest("id")
    assert entry.target_id == travelled.message_id(1)


# The first ends inside the umlaut.
@pytest.mark.parametrize("span", [[0, 7], [5, 5], [0, 999], [4, 2]])
def test_a_span_that_is_no_words_is_refused(travelled, span):
    answer = cut(travelled, span)
    assert refusal(answer) == (422, "span-outside")
    assert not Chunk.objects.exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"spans": []},
        {"spans": [[1]]},
        {"spans": [["a", "b"]]},
        {"spans": "x"},
        {"ordinal": 2**15},
        {"spans": [[0, 2**31]]},
    ],
)
def test_spans_that_cannot_be_taken(travelled, fields):
    assert cut(travelled, [0, 4], **fields).status_code == 400


def test_a_citation_goes_with_the_bytes(travelled, begin):
    [chunk] = cut(travelled, [0, 4]).json()["data"]
    other = begin()
    assert other.get(f"/chunks/{chunk['id']}/citation").status_code == 404
    MessagePart.objects.filter(seq=1).update(text=None, bytes_state="erased")
    assert travelled.get(f"/chunks/{chunk['id']}/citation").status_code == 404
