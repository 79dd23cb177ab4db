import hashlib
from functools import partial
from pathlib import Path

import pytest
from django.core.files.storage import storages
from django.db import IntegrityError, transaction

from conversations.drafts import MessageDraft, PartDraft
from conversations.errors import StoreError
from conversations.models import Blob, Message, MessagePart
from conversations.reads.path import read_path
from conversations.services.appending import append_message
from conversations.services.blobs import LARGE, keep_blob, read_blob
from conversations.vocabulary import PartType, Role
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import user
from tests.conversations.writers import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    """Blobs of a test lie in a folder of its own."""
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "blobs": backend}
    return tmp_path


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def image(size: int, **fields) -> MessageDraft:
    payload = b'{"type":"image","source":"' + b"A" * (size - 28) + b'"}'
    assert len(payload) == size
    part = PartDraft(type=PartType.IMAGE, payload=payload, media_type="image/png")
    return MessageDraft(role=Role.USER, parts=[part], **fields)


def append(conversation, message):
    return append_message(conversation_id=conversation.pk, message=message, actor=CUSTOMER, now=NOW)


def test_a_payload_of_32_kb_stays_in_its_row(conversation, folder):
    append(conversation, image(LARGE))

    part = MessagePart.objects.get()
    assert (len(part.payload), part.blob_id) == (LARGE, None)
    assert files(folder) == []


def test_a_larger_payload_goes_to_blob_storage_and_comes_back(conversation, folder):
    message = image(LARGE + 1)

    append(conversation, message)

    part = MessagePart.objects.get()
    blob = Blob.objects.get()
    assert (part.payload, part.blob_id) == (None, blob.pk)
    assert bytes(blob.sha256) == hashlib.sha256(message.parts[0].payload).digest()
    assert (blob.size, blob.media_type) == (LARGE + 1, "image/png")
    [stored] = read_path(conversation_id=conversation.pk, leaf_seq=1)
    assert stored.draft.parts == message.parts
    assert blob.sha256.hex() not in blob.storage_key
    assert len(files(folder)) == 1


def test_bytes_may_be_left_where_they_are(conversation):
    append(conversation, image(LARGE + 1))

    [stored] = read_path(conversation_id=conversation.pk, leaf_seq=1, with_bytes=False)

    assert stored.draft.parts[0].payload is None


def test_the_same_bytes_are_stored_once(conversation, folder):
    append(conversation, image(LARGE + 1))
    append(conversation, image(LARGE + 1))

    assert Blob.objects.count() == 1
    assert len(files(folder)) == 1
    assert set(MessagePart.objects.values_list("blob_id", flat=True)) == {Blob.objects.get().pk}


def test_the_same_bytes_twice_at_once_leave_one_row_and_one_file(realm, folder):
    payload = b"x" * (LARGE + 1)

    ids = at_once(*[partial(keep_blob, payload=payload, media_type="image/png") for _ in range(6)])

    assert len(set(ids)) == 1
    assert Blob.objects.count() == 1
    assert len(files(folder)) == 1
    assert read_blob(storage_key=Blob.objects.get().storage_key) == payload


def test_the_file_is_there_before_its_row(conversation, monkeypatch):
    seen = []
    save = type(storages["blobs"]).save

    def watched(storage, name, content, **options):
        seen.append(Blob.objects.count())
        return save(storage, name, content, **options)

    monkeypatch.setattr(type(storages["blobs"]), "save", watched)

    append(conversation, image(LARGE + 1))

    assert seen == [0]
    assert Blob.objects.count() == 1


def test_a_message_that_is_refused_leaves_no_row(conversation):
    append(conversation, user(client_message_id="m-1"))
    message = image(LARGE + 1)
    message.parts.append(PartDraft(type=PartType.TOOL_RESULT, payload=b"{}", tool_call_id="call_9"))

    with pytest.raises(StoreError, match="the result names a call"):
        append(conversation, message)

    assert Message.objects.count() == 1
    assert Blob.objects.count() == 0


def test_a_blob_that_is_in_use_cannot_be_swept(conversation):
    append(conversation, image(LARGE + 1))

    with pytest.raises(IntegrityError), transaction.atomic():
        Blob.objects.all().delete()

    assert Blob.objects.count() == 1
