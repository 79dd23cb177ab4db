"""Conversations whose bytes lie in the archive read like any other; one whose file is gone says so."""

import pytest
from django.utils import timezone

from conversations.models import Archive
from conversations.services.blobs import blob_storage
from retention.archiving import archive_bytes
from tests.api.answers import refusal
from tests.api.conversations.talking import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def archived(answered):
    cut = {"message_id": answered.message_id(1), "spans": [[0, 5]], "chunking_version": "c1"}
    answered.post("/chunks", cut)
    archive_bytes(conversation_id=answered.id, now=timezone.now())
    assert Archive.objects.filter(pk=answered.id).exists()
    return answered


def words_of(messages):
    return [message["parts"][0]["text"] for message in messages]


def test_archived_bytes_are_told_as_they_were(archived):
    said = ["Where is order 1042?", "On its way."]
    path = archived.get().json()["path"]
    assert words_of(path) == said
    assert [message["parts"][0]["bytes_state"] for message in path] == ["present", "present"]
    assert words_of(archived.get("/messages").json()["data"]) == said
    assert words_of([archived.get("/messages/2").json()]) == said[1:]
    assert words_of(archived.get("/context?budget=100").json()["messages"]) == said
    assert archived.get("/next-body?dialect=openai_chat&model=m").status_code == 200


def test_the_number_of_queries_grows_by_the_archive_alone(archived, django_assert_num_queries):
    archived.get()
    # One more than for a path that is not archived: the row that names the file.
    with django_assert_num_queries(16):
        archived.get()


def test_an_archive_that_is_gone_is_no_error_of_ours(archived):
    blob_storage().delete(Archive.objects.get().storage_key)
    [message, _] = archived.get().json()["path"]
    assert "not in blob storage" in message["archive_trouble"]
    assert (message["parts"][0]["text"], message["parts"][0]["bytes_state"]) == (None, "archived")
    refused = archived.get("/next-body?dialect=openai_chat&model=m")
    assert refusal(refused) == (409, "body-not-given")
    assert archived.get("/context?budget=100").status_code == 200


def test_a_citation_is_read_out_of_the_archive(archived):
    body = {"message_id": archived.message_id(1), "spans": [[0, 5]], "chunking_version": "c1"}
    [chunk] = archived.post("/chunks", body).json()["data"]
    assert archived.get(f"/chunks/{chunk['id']}/citation").json()["words"] == "Where"
    blob_storage().delete(Archive.objects.get().storage_key)
    assert archived.get(f"/chunks/{chunk['id']}/citation").status_code == 409


def test_a_retry_of_an_archived_message_is_known(talk):
    first = talk.append(text("hello"), client_message_id="m-1")
    archive_bytes(conversation_id=talk.id, now=timezone.now())
    again = talk.append(text("hello"), client_message_id="m-1", status=200)
    assert again["message"] == first["message"]
