"""Where the application could not be spared the policies, an import writes the same rows without COPY."""

import json

import pytest

from access.actors import Actor, ActorKind
from conversations.models import Conversation, Message, MessagePart
from conversations.services.importing import tables
from conversations.services.importing.importing import import_file
from tests.conversations.conftest import NOW, realm

__all__ = ["realm"]

pytestmark = pytest.mark.django_db


def node(role, text, parent=None):
    message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}}
    return {"parent": parent, "children": [], "message": message}


def written() -> list[list[tuple]]:
    messages = Message.objects.order_by("seq").values_list(
        "seq", "parent_seq", "role", "branch_reason", "shell"
    )
    parts = MessagePart.objects.order_by("seq", "ordinal").values_list(
        "seq", "ordinal", "type", "text", "payload"
    )
    heads = Conversation.objects.values_list("title", "head_seq", "head_move", "next_seq", "has_fork")
    return [list(messages), [tuple(map(plain, part)) for part in parts], list(heads)]


def plain(value):
    return bytes(value) if isinstance(value, memoryview) else value


def test_an_import_writes_the_same_by_insert_as_by_copy(realm, tmp_path, monkeypatch):
    mapping = {
        "a": node("user", "two\tlines\nand a \\ backslash"),
        "b": node("assistant", "入場券", "a"),
        "c": node("assistant", "another answer", "a"),
    }
    path = tmp_path / "export.json"

    def imported(key: str) -> list[list[tuple]]:
        chat = {"conversation_id": key, "title": "T", "mapping": mapping, "current_node": "c"}
        path.write_text(json.dumps([chat]))
        before = list(Conversation.objects.values_list("pk", flat=True))
        import_file(path=path, realm=realm, actor=Actor(ActorKind.IMPORTER), now=NOW, account="c-7")
        assert Conversation.objects.exclude(pk__in=before).count() == 1
        return written()

    copied = imported("one")
    assert copied[0]
    monkeypatch.setattr(tables, "_is_under_row_security", lambda table: True)
    both = imported("two")

    for of_one, of_both in zip(copied, both, strict=True):
        assert sorted(of_both, key=repr) == sorted(of_one * 2, key=repr)
