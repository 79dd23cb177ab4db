"""What cannot be read or kept costs its own conversation at most."""

import io
import json
import zipfile

import pytest

from conversations.models import Conversation, HeadMove, Message, MessagePart, RawBody, ToolCall
from conversations.services.importing.report import ExitStatus
from conversations.services.raw_bodies import open_raw_body
from conversations.vocabulary import CallStatus, HeadMoveReason, RawClass, ReplayObstacle
from tests.conversations.imports.exports import five
from tests.conversations.imports.reading import lines
from tests.conversations.invariants import assert_well_formed


def test_one_bad_conversation_never_sinks_the_file(imported):
    export = [*five()[:2], {"id": "C", "title": "what she said", "mapping": "not-an-object"}]

    report = imported(export)

    assert Conversation.objects.count() == 2
    assert report.exit_status == ExitStatus.PARTIAL
    assert [(one.place, one.text) for one in report.failed] == [
        ("export.json, item 3, conversation C", "a conversation without a mapping of nodes")
    ]


def archive(**files: object) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        for name, content in files.items():
            target.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return packed.getvalue()


@pytest.mark.parametrize("damaged", [b'[{"title": ', b"<html>", b"\xff\xfe\x00"])
def test_a_file_of_an_archive_that_cannot_be_read_makes_the_import_partial(imported, damaged):
    files = {"conversations-000.json": five(), "conversations-001.json": damaged}

    report = imported(archive(**files), "export.zip")

    assert Conversation.objects.count() == 5
    assert report.exit_status == ExitStatus.PARTIAL
    assert [one.place for one in report.refused] == ["export.zip/conversations-001.json"]


def test_what_lies_beside_the_conversations_of_an_archive_makes_it_no_less_whole(imported):
    files = {
        "conversations.json": five(),
        "user.json": {"id": "u-1"},
        "message_feedback.json": [],
        "notes.txt": b"no conversation",
        "__MACOSX/._conversations.json": b"\x00\x05\x16\x07",
    }

    report = imported(archive(**files), "export.zip")

    assert report.exit_status == ExitStatus.COMPLETE
    assert {one.place for one in report.refused} == {
        "export.zip/user.json",
        "export.zip/message_feedback.json",
        "export.zip/notes.txt",
    }


def test_what_the_database_refuses_costs_only_its_own_conversation(imported, monkeypatch):
    from conversations.services.importing import rows as laid_out

    real = laid_out.RowBatch._conversation

    def broken(self, conversation_id, plan, started):
        row = list(real(self, conversation_id, plan, started))
        if plan.conversation.external_ref == "chatgpt:k3":
            row[3] = "a source that is none"
        return tuple(row)

    monkeypatch.setattr(laid_out.RowBatch, "_conversation", broken)

    report = imported(five())

    assert sorted(Conversation.objects.values_list("external_ref", flat=True)) == [
        "chatgpt:k1",
        "chatgpt:k2",
        "chatgpt:k4",
        "chatgpt:k5",
    ]
    assert Message.objects.count() == 8
    (failed,) = report.failed
    assert failed.place == "export.json, item 3"


def test_a_head_that_cannot_be_read_is_repaired_and_logged_as_such(imported):
    history = {
        "currentId": "m9",
        "messages": {
            "m1": {"role": "user", "content": "hi", "parentId": None},
            "m2": {"role": "assistant", "content": "hello", "parentId": "m1"},
            "m9": {"error": {"code": "content_filter"}},
        },
    }

    report = imported([{"id": "w", "title": "T", "chat": {"history": history}}])

    move = HeadMove.objects.get()
    assert (move.head_seq, move.reason) == (2, HeadMoveReason.IMPORT_REPAIR)
    quarantined = RawBody.objects.get(raw_class=RawClass.QUARANTINE)
    assert open_raw_body(quarantined) == b'{"error":{"code":"content_filter"}}'
    assert quarantined.place == "export.json, item 1, node m9"
    assert quarantined.trouble == "no message but an error (content_filter)"
    assert (report.counts["heads repaired"], report.counts["quarantined"]) == (1, 1)


def test_calls_results_and_what_was_passed_over_have_their_status(imported):
    def call(call_id):
        return {
            "id": call_id,
            "type": "function",
            "function": {"name": "refund", "arguments": '{"order": 1}'},
        }

    dialogue = [
        {"role": "user", "content": "Refund both"},
        {"role": "assistant", "content": None, "tool_calls": [call("c1"), call("c2")]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "tool", "tool_call_id": "c9", "content": "whose?"},
        {"role": "assistant", "content": "One of them is done."},
    ]

    report = imported(lines({"messages": dialogue}), "train.jsonl")

    conversation = Conversation.objects.get()
    assert list(
        ToolCall.objects.order_by("call_id").values_list("call_id", "name", "status", "arguments")
    ) == [
        ("c1", "refund", CallStatus.SUCCEEDED, {"order": 1}),
        ("c2", "refund", CallStatus.UNANSWERED, {"order": 1}),
    ]
    assert Message.objects.get(seq=3).answers_seq == 2
    assert MessagePart.objects.get(seq=4).orphan
    assert conversation.replay_obstacle == ReplayObstacle.RECEIVED_BROKEN
    assert report.counts["orphans"] == 1
    assert_well_formed(conversation.id)
