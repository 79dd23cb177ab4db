"""The page of a conversation out of an export: what its source left out is said, and nothing is made up."""

import json

import pytest
from django.utils.html import strip_tags

from access.actors import Actor, ActorKind
from access.rights import RoleName
from conversations.models import Conversation
from conversations.services.importing.importing import import_file
from tests.console.conftest import NOW
from tests.conversations.drafts import user


@pytest.fixture
def imported(realm, tmp_path):
    """Import a ChatGPT export of one conversation."""

    def run(mapping, **fields) -> Conversation:
        path = tmp_path / "conversations.json"
        path.write_text(json.dumps([{"conversation_id": "k", "title": None, "mapping": mapping, **fields}]))
        importer = Actor(ActorKind.IMPORTER)
        report = import_file(path=path, realm=realm, actor=importer, now=NOW, account="cus-1")
        assert report.failed == []
        return Conversation.objects.get()

    return run


@pytest.fixture
def words_of(log_in):
    """Give the words of a conversation's page, for somebody whose role needs no reason."""
    officer = log_in(RoleName.PRIVACY_OFFICER)

    def read(conversation: Conversation) -> str:
        response = officer.get(f"/conversations/{conversation.pk}/")
        assert response.status_code == 200
        return " ".join(strip_tags(response.content.decode().replace("<", " <")).split())

    return read


def node(role, *parts, parent=None, **fields):
    content = {"content_type": "multimodal_text", "parts": list(parts)}
    return {
        "parent": parent,
        "children": [],
        "message": {"author": {"role": role}, "content": content, **fields},
    }


def test_a_head_that_could_not_be_read_is_said_on_the_page_and_in_the_log(imported, words_of):
    nodes = {"m1": node("user", "hi"), "m2": node("assistant", "hello", parent="m1"), "m9": {"error": "cut"}}

    words = words_of(imported(nodes, current_node="m9"))

    assert "The message that its source names as the one last shown could not be read." in words
    assert "#2 Import, in place of a head that could not be read , importer" in words
    assert "conversations.json, item 1, node m9 a node without a role" in words


def test_a_head_that_was_read_is_an_import_like_any(imported, words_of):
    words = words_of(imported({"m1": node("user", "hi")}, current_node="m1"))

    assert "could not be read" not in words
    assert "#1 Import , importer" in words


def test_times_that_the_source_left_out_are_unknown_and_others_stand(imported, words_of, say):
    nodes = {
        "m1": node("user", "hi"),
        "m2": node("assistant", "hello", parent="m1", create_time=NOW.timestamp() - 3600),
    }
    conversation = imported(nodes, current_node="m2")
    say(conversation, user("and here it went on"))

    words = words_of(conversation)

    assert "from an unknown time to" in words
    assert "User #1 time unknown" in words
    assert "Assistant #2 13:03:00" in words
    assert "User #3 14:03:03" in words


def test_a_profile_is_named_as_what_it_is(imported, words_of):
    profile = {"content_type": "user_editable_context", "user_profile": "Name: P. Sample"}
    nodes = {"h": {"parent": None, "message": {"author": {"role": "user"}, "content": profile}}}

    words = words_of(imported(nodes))

    assert "Hidden from the customer by the source" in words
    assert "Profile context Name: P. Sample The customer's own profile" in words.replace("&#x27;", "'")


def test_an_image_of_which_only_the_name_was_imported_is_missing(imported, words_of):
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f1"}

    words = words_of(imported({"m1": node("user", pointer, "see image")}))

    assert "asset missing: file-service://f1" in words
    assert "Download" not in words
