"""An archived conversation in the console: read from its file, with words where the file is not right."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from access.models import AccessEntry
from access.rights import RoleName
from conversations.models import Archive, MessagePart
from conversations.services.blobs import blob_storage
from retention.archiving import archive_bytes
from retention.services.holds import place_hold
from tests.console.conftest import NOW
from tests.conversations.drafts import assistant, calls, results, user

pytestmark = pytest.mark.django_db

WORDS = "Where does order 1042 stand?"


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "blobs": backend}
    return tmp_path


@pytest.fixture
def archived(make_conversation, say):
    conversation = make_conversation()
    for message in (user(WORDS), calls("toolu_1"), results("toolu_1"), assistant("On its way.")):
        say(conversation, message)
    archive_bytes(conversation_id=conversation.pk, now=NOW + timedelta(days=40))
    return conversation


@pytest.fixture
def reader(make_staff, client, archived, open_for):
    member = make_staff(RoleName.PRIVACY_OFFICER)
    open_for(member, archived)
    client.force_login(member)
    return client


def page_of(client, conversation, rest=""):
    return client.get(f"/conversations/{conversation.pk}/{rest}").content.decode()


def damage():
    path = Path(blob_storage().path(Archive.objects.get().storage_key))
    path.write_bytes(b"damaged" + path.read_bytes())


def test_the_page_shows_the_words_from_the_archive_and_says_so(reader, archived):
    page = page_of(reader, archived)

    assert WORDS in page
    assert "lies in the archive since" in page
    assert "Searching for words does not find it" in page
    assert set(MessagePart.objects.values_list("bytes_state", flat=True)) == {"archived"}


def test_without_a_reason_nothing_is_read_from_the_file(log_in, archived):
    page = page_of(log_in(RoleName.SUPPORT), archived)

    assert WORDS not in page
    assert "Text is in the archive" in page


def test_a_damaged_file_is_said_in_place_of_the_words(reader, archived):
    damage()

    page = page_of(reader, archived)

    assert "is in the archive, which cannot be opened" in page
    assert "its checksum differs" in page


def test_one_block_with_all_its_bytes_comes_from_the_file(reader, archived):
    assert WORDS in page_of(reader, archived, "messages/1/blocks/0/")


def test_a_block_of_a_damaged_file_says_why_it_cannot_be_read(reader, archived):
    damage()

    answer = reader.get(f"/conversations/{archived.pk}/messages/1/blocks/0/")

    assert answer.status_code == 409
    page = answer.content.decode()
    assert "message 1, block 0" in page
    assert "its checksum differs" in page


def test_the_page_asks_as_often_as_of_any_conversation_and_once_more(
    reader, archived, make_conversation, say, open_for, django_assert_max_num_queries
):
    with django_assert_max_num_queries(60) as archived_queries:
        page_of(reader, archived)
    other = make_conversation(title="Porto")
    for message in (user(WORDS), calls("toolu_1"), results("toolu_1"), assistant("On its way.")):
        say(other, message)
    open_for(officer(), other)

    with django_assert_max_num_queries(60) as usual:
        page_of(reader, other)

    assert len(archived_queries) == len(usual) + 1


def officer():
    return User.objects.get(username="privacy_officer")


def test_the_bytes_are_brought_back_from_the_page(reader, archived):
    assert "Bring the bytes back for 30 days" in page_of(reader, archived, "retention/")

    reader.post(f"/conversations/{archived.pk}/retention/return/")

    assert set(MessagePart.objects.values_list("bytes_state", flat=True)) == {"present"}
    line = AccessEntry.objects.get(action="change", conversation_id=archived.pk)
    assert line.address == "127.0.0.1"
    assert "In the archive" not in page_of(reader, archived, "retention/")


def test_a_damaged_file_brings_nothing_back_and_says_why(reader, archived):
    damage()

    answer = reader.post(f"/conversations/{archived.pk}/retention/return/", follow=True)

    assert "Nothing was brought back" in answer.content.decode()
    assert set(MessagePart.objects.values_list("bytes_state", flat=True)) == {"archived"}


def test_a_held_conversation_may_be_brought_back(reader, archived):
    place_hold(conversation_id=archived.pk, matter="M-7", user=officer(), now=NOW)

    reader.post(f"/conversations/{archived.pk}/retention/return/")

    assert set(MessagePart.objects.values_list("bytes_state", flat=True)) == {"present"}


@pytest.mark.parametrize("role", [RoleName.SUPPORT, RoleName.AUDITOR])
def test_who_may_not_bring_back(log_in, archived, role):
    assert log_in(role).post(f"/conversations/{archived.pk}/retention/return/").status_code == 403
    assert Archive.objects.exists()


def test_another_realms_conversation_is_not_there(log_in, archived):
    client = log_in(RoleName.PRIVACY_OFFICER, realms=[])

    assert client.post(f"/conversations/{archived.pk}/retention/return/").status_code == 404
    assert Archive.objects.exists()
