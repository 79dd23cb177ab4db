import json
import re

import pytest
from django.core.management import CommandError, call_command

from access.actors import Actor, ActorKind
from access.models import Realm
from conversations.drafts import PartDraft
from conversations.models import Conversation, HeadMove, Message, MessagePart, ToolCall
from conversations.services.appending import append_message, edit_message
from conversations.services.exporting import (
    ExportFailure,
    export_next_bodies,
    export_trees,
    select_conversations,
)
from conversations.services.importing.importing import import_file
from conversations.services.importing.report import ExitStatus
from conversations.vocabulary import Dialect, PartType
from tests.conversations import drafts
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.imports.reading import lines, write

IMPORTER = Actor(ActorKind.IMPORTER)
OF_ROW = {"conversation", "conversation_id", "blob", "blob_id", "path_digest"}
LOCAL = OF_ROW | {"created_at", "requested_at", "written_order"}


@pytest.fixture
def told(conversation):
    """A conversation with a call, an edit, a second branch, odd texts and a message without an id."""
    append = {"conversation_id": conversation.pk, "actor": CUSTOMER, "now": NOW}
    append_message(**append, message=drafts.user("Refund 1042", client_message_id="m-1"))
    append_message(**append, message=drafts.calls("call_1", "call_2"))
    append_message(**append, message=drafts.results("call_1", "call_2"))
    odd = drafts.assistant("Done.")
    odd.parts.append(PartDraft(PartType.OTHER, payload=b'{"x":1.50,"y":"\\ud800"}', provider_type="widget"))
    odd.parts.append(PartDraft(PartType.IMAGE, payload=b'"' + b"A" * 40_000 + b'"', media_type="image/png"))
    append_message(**append, message=odd)
    edit_message(
        conversation_id=conversation.pk, seq=1, message=drafts.user("Refund 1043"), actor=CUSTOMER, now=NOW
    )
    conversation.refresh_from_db()
    return conversation


def snapshot(conversation: Conversation) -> dict[str, list[dict[str, object]]]:
    """All rows of a tree by value, without what belongs to one store only."""
    tables = {
        "messages": Message.objects,
        "parts": MessagePart.objects,
        "calls": ToolCall.objects,
        "moves": HeadMove.objects,
    }
    found = {}
    for name, table in tables.items():
        rows = table.filter(conversation_id=conversation.pk).order_by("pk").values()
        found[name] = [{key: _plain(value) for key, value in row.items() if key not in LOCAL} for row in rows]
    return found


def _plain(value: object) -> object:
    return bytes(value) if isinstance(value, memoryview) else value


def import_elsewhere(tmp_path, trees: list[bytes]) -> Conversation:
    realm, _ = Realm.objects.get_or_create(slug="elsewhere", defaults={"name": "E", "created_at": NOW})
    path = write(tmp_path, b"".join(trees), "trees.jsonl")
    report = import_file(path=path, realm=realm, actor=IMPORTER, now=NOW, account="c-1")
    assert report.exit_status == ExitStatus.COMPLETE
    return Conversation.objects.get(account__realm=realm)


def test_a_tree_comes_back_as_equal_rows(told, tmp_path):
    trees = list(export_trees(select_conversations(ids=[told.pk])))

    back = import_elsewhere(tmp_path, trees)

    assert snapshot(back) == snapshot(told)
    assert (back.title, back.head_seq, back.head_move, back.next_seq, back.has_fork) == (
        told.title,
        told.head_seq,
        told.head_move,
        told.next_seq,
        told.has_fork,
    )


def test_a_tree_that_came_back_exports_to_the_same_bytes_but_for_the_account(told, tmp_path):
    (first,) = export_trees(select_conversations(ids=[told.pk]))
    back = import_elsewhere(tmp_path, [first])

    (second,) = export_trees(select_conversations(ids=[back.pk]))

    one, other = json.loads(first), json.loads(second)
    for local in ("id", "account", "external_ref"):
        one.pop(local, None)
        other.pop(local, None)
    assert one == other


def test_importing_a_tree_twice_adds_nothing_and_a_longer_one_adds_its_end(told, tmp_path):
    import_elsewhere(tmp_path, list(export_trees(select_conversations(ids=[told.pk]))))
    append_message(
        conversation_id=told.pk, actor=CUSTOMER, now=NOW, message=drafts.assistant("Another order, then.")
    )

    back = import_elsewhere(tmp_path, list(export_trees(select_conversations(ids=[told.pk]))))

    assert snapshot(back)["messages"] == snapshot(told)["messages"]


def test_trees_and_tables_of_a_whole_realm_stream_by_key(told, make_conversation):
    make_conversation(external_ref="second")

    records = [json.loads(line) for line in export_trees(select_conversations(realm_slug="wendelmere"))]

    assert [record["id"] for record in records] == sorted(record["id"] for record in records)
    assert len(records) == 2


def test_the_next_body_of_a_dialogue_is_ready_to_be_sent(realm, tmp_path):
    messages = [{"role": "user", "content": "hi"}]
    path = write(tmp_path, lines({"messages": messages}), "train.jsonl")
    import_file(path=path, realm=realm, actor=IMPORTER, now=NOW, account="c-1")

    (line,) = export_next_bodies(Conversation.objects.all(), dialect=Dialect.OPENAI_CHAT, model="gpt-x")

    assert isinstance(line, bytes)
    body = json.loads(json.loads(line)["body"])
    assert (body["model"], body["messages"]) == ("gpt-x", messages)


def test_the_next_body_goes_to_the_model_that_imported_answers_name(realm, tmp_path):
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    told = [
        {"id": "named", "model": "gpt-x", "messages": messages},
        {"id": "none", "model": "<synthetic>", "messages": messages},
    ]
    path = write(tmp_path, lines(*told), "train.jsonl")
    import_file(path=path, realm=realm, actor=IMPORTER, now=NOW, account="c-1")
    named, none = (Conversation.objects.filter(external_ref=f"openai:{key}") for key in ("named", "none"))

    (line,) = export_next_bodies(named)
    (other,) = export_next_bodies(named, dialect=Dialect.ANTHROPIC_MESSAGES, model="claude-x")
    (refused,) = export_next_bodies(none)

    assert json.loads(json.loads(line)["body"])["model"] == "gpt-x"
    assert json.loads(json.loads(other)["body"])["model"] == "claude-x"
    assert isinstance(refused, ExportFailure)


def test_what_cannot_be_sent_is_named(conversation):
    assert list(export_next_bodies(Conversation.objects.all())) == [
        ExportFailure(str(conversation.pk), "a conversation without messages")
    ]


def test_a_tree_of_another_version_is_refused(realm, tmp_path):
    path = write(tmp_path, lines({"counterfoil_tree": 2, "messages": []}), "trees.jsonl")

    report = import_file(path=path, realm=realm, actor=IMPORTER, now=NOW, account="c-1")

    assert [one.text for one in report.failed] == ["a tree of version 2, and not 1"]


@pytest.mark.parametrize(
    "change",
    [
        {"seq": -1},
        {"seq": "one"},
        {"role": "king"},
        {"parts": [{"type": "text", "payload_base64": "%%%"}]},
        {"at": "yesterday"},
        {"parts": [{"type": "text"}]},
    ],
)
def test_a_tree_that_nobody_wrote_costs_only_itself(realm, tmp_path, change):
    message = {
        "seq": 1,
        "role": "user",
        "branch_reason": "continue",
        "parts": [{"type": "text", "text": "hi"}],
    }
    good = {"counterfoil_tree": 1, "id": "a", "head": 1, "messages": [message], "head_moves": []}
    bad = {**good, "id": "b", "messages": [{**message, **change}]}

    path = write(tmp_path, lines(bad, good), "trees.jsonl")
    report = import_file(path=path, realm=realm, actor=IMPORTER, now=NOW, account="c-1")

    assert len(report.failed) == 1
    assert Conversation.objects.get().external_ref == "counterfoil:a"


def test_the_command_writes_a_file_once_and_says_what_it_left_out(told, tmp_path, capsys):
    target = tmp_path / "out.jsonl"
    call_command("export_conversations", output=target)

    assert json.loads(target.read_bytes())["id"] == str(told.pk)
    with pytest.raises(SystemExit) as ended:
        call_command("export_conversations", what="next")
    assert ended.value.code == ExitStatus.PARTIAL
    assert str(told.pk) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--output", "/nowhere/trees.jsonl"], "/nowhere/trees.jsonl: No such file or directory"),
        (["--realm", "nowhere"], "there is no realm 'nowhere'"),
        (["--since", "yesterday"], "yesterday is no time in ISO 8601"),
    ],
)
def test_the_command_refuses_in_one_line(db, arguments, reason):
    with pytest.raises(CommandError, match=re.escape(reason)):
        call_command("export_conversations", *arguments)
