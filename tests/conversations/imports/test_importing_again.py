"""The same source again: only what is new is added, and nothing is taken back."""

from datetime import timedelta

import pytest

from conversations.drafts import MessageDraft, PartDraft
from conversations.models import Conversation, Generation, HeadMove, Message, ToolCall
from conversations.services.appending import append_message
from conversations.services.importing.report import ExitStatus
from conversations.vocabulary import CallStatus, PartType, Role
from tests.conversations.conftest import NOW
from tests.conversations.imports.exports import IMPORTER, chat, five, node, rows
from tests.conversations.imports.reading import lines
from tests.conversations.invariants import assert_well_formed


def test_the_same_file_again_adds_nothing(imported):
    imported(five())
    before = rows()

    report = imported(five(), now=NOW + timedelta(days=1))

    assert rows() == before
    assert report.counts["conversations unchanged"] == 5
    assert report.exit_status == ExitStatus.COMPLETE


def test_an_import_that_stopped_half_way_is_completed_by_the_next(imported):
    imported(five()[:3])

    report = imported(five())

    assert Conversation.objects.count() == 5
    assert (report.counts["conversations new"], report.counts["conversations unchanged"]) == (2, 3)


def test_a_later_export_adds_only_what_is_new_and_keeps_what_was_removed(imported):
    first = {
        "u": node("user", "hi"),
        "a": node("assistant", "old answer", "u"),
        "b": node("assistant", "answer", "u"),
    }
    imported(five(first))
    later = {
        "u": node("user", "hi"),
        "b": node("assistant", "answer", "u"),
        "c": node("user", "more?", "b"),
        "d": node("assistant", "more.", "c"),
    }
    export = five(later)
    export[1]["current_node"] = "d"

    report = imported(export, now=NOW + timedelta(days=1))

    conversation = Conversation.objects.get(external_ref="chatgpt:k2")
    messages = Message.objects.filter(conversation=conversation).order_by("seq")
    assert list(messages.values_list("client_message_id", "parent_seq")) == [
        ("u", None),
        ("a", 1),
        ("b", 1),
        ("c", 3),
        ("d", 4),
    ]
    assert list(HeadMove.objects.filter(conversation=conversation).values_list("head_seq", flat=True)) == [
        2,
        5,
    ]
    assert report.counts["messages"] == 2
    assert [remark.text for remark in report.remarks] == ["1 messages are no longer in this export (a); kept"]
    assert_well_formed(conversation.id)


def test_a_head_that_was_moved_here_is_not_moved_back_by_an_import(imported):
    imported([chat("k", {"u": node("user", "hi")}, "u")])
    conversation = Conversation.objects.get()
    here = MessageDraft(Role.ASSISTANT, [PartDraft(PartType.TEXT, text="written here")])
    append_message(conversation_id=conversation.pk, message=here, actor=IMPORTER, now=NOW)
    later = {"u": node("user", "hi"), "a": node("assistant", "written there", "u")}

    report = imported([chat("k", later, "a")], now=NOW + timedelta(days=1))

    conversation.refresh_from_db()
    assert conversation.head_seq == 2
    assert Message.objects.get(client_message_id="a").parent_seq == 1
    assert "the head was moved here since the first import; it stays where it is" in [
        remark.text for remark in report.remarks
    ]
    assert_well_formed(conversation.id)


def test_a_result_that_arrives_with_a_later_export_settles_its_call(imported):
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    ask = {
        "type": "user",
        "uuid": "u",
        "sessionId": "s",
        "timestamp": "2025-09-03T00:00:00Z",
        "message": {"role": "user", "content": "go"},
    }
    asked = {
        "type": "assistant",
        "uuid": "a",
        "parentUuid": "u",
        "sessionId": "s",
        "message": {"role": "assistant", "content": [call]},
    }
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    answer = {
        "type": "user",
        "uuid": "r",
        "parentUuid": "a",
        "sessionId": "s",
        "message": {"role": "user", "content": [result]},
    }
    imported(lines(ask, asked), "s.jsonl")
    assert ToolCall.objects.get().status == CallStatus.REQUESTED

    imported(lines(ask, asked, answer), "s.jsonl", now=NOW + timedelta(hours=1))

    conversation = Conversation.objects.get()
    assert ToolCall.objects.get().status == CallStatus.SUCCEEDED
    assert Message.objects.get(seq=3).answers_seq == 2
    assert conversation.head_seq == 3
    assert_well_formed(conversation.id)


def test_what_an_export_says_otherwise_is_reported_though_nothing_is_added(imported):
    imported([chat("k", {"u": node("user", "hi"), "a": node("assistant", "hello", "u")}, "u")])
    before = rows()

    report = imported([chat("k", {"u": node("user", "HI")}, "u")], now=NOW + timedelta(days=1))

    assert rows() == before
    assert report.counts["conversations unchanged"] == 1
    assert [remark.text for remark in report.remarks] == [
        "1 messages say something else now; kept as first imported",
        "1 messages are no longer in this export (a); kept",
    ]


def test_what_is_quarantined_is_named_in_the_report_once(imported):
    broken = {"u": node("user", "hi"), "x": {"parent": "u", "message": {"error": "cut"}}}
    imported_first = imported([chat("k", broken, "u")])
    later = {**broken, "a": node("assistant", "hello", "u")}

    report = imported([chat("k", later, "a")], now=NOW + timedelta(days=1))

    assert [remark.text for remark in imported_first.remarks] == [
        "node x is kept in quarantine: a node without a role"
    ]
    assert report.remarks == []


def turns(*said: str, moments: bool = True) -> dict[str, object]:
    """A line of messages a minute apart, or without any time."""
    nodes, parent = {}, None
    for number, name in enumerate(said):
        role = "user" if number % 2 == 0 else "assistant"
        nodes[name] = node(role, name, parent)
        nodes[name]["message"]["create_time"] = 1_700_000_000 + 60 * number if moments else None
        parent = name
    return nodes


OLDER = "this export is older than what was imported before; the head stays where it is"


@pytest.mark.parametrize("moments", [True, False], ids=["with times", "without"])
def test_an_older_export_does_not_move_the_head_back(imported, moments):
    imported([chat("k", turns("u", "a", "v", "b", moments=moments), "b")])

    report = imported([chat("k", turns("u", "a", moments=moments), "a")], now=NOW + timedelta(days=1))

    assert Conversation.objects.get().head_seq == 4
    assert HeadMove.objects.count() == 1
    assert OLDER in [remark.text for remark in report.remarks]
    assert report.counts["conversations unchanged"] == 1


def test_an_older_export_still_adds_the_branch_that_was_removed_since(imported):
    imported([chat("k", turns("u", "a", "v", "b"), "b")])
    before = turns("u", "a")
    before["old"] = node("assistant", "old", "u")
    before["old"]["message"]["create_time"] = 1_700_000_090

    report = imported([chat("k", before, "old")], now=NOW + timedelta(days=1))

    conversation = Conversation.objects.get()
    assert Message.objects.get(client_message_id="old").parent_seq == 1
    assert conversation.head_seq == 4
    assert OLDER in [remark.text for remark in report.remarks]
    assert_well_formed(conversation.id)


def test_the_later_of_two_exports_is_told_by_when_the_source_changed_it_last(imported):
    """The customer took the last turn away: fewer messages, and yet the later export."""
    imported([chat("k", turns("u", "a", "v", "b"), "b") | {"update_time": 1_700_000_300}])

    report = imported([chat("k", turns("u", "a"), "a") | {"update_time": 1_700_000_900}], now=NOW)

    assert Conversation.objects.get().head_seq == 2
    assert OLDER not in [remark.text for remark in report.remarks]
    # And the earlier one again does not bring the turn back into view.
    imported([chat("k", turns("u", "a", "v", "b"), "b") | {"update_time": 1_700_000_301}], now=NOW)
    assert Conversation.objects.get().head_seq == 2


def test_an_import_without_times_is_no_later_than_one_that_tells_them(imported):
    imported([chat("k", turns("u", moments=False), "u")])
    dated = turns("u", "a", "v")
    dated["u"]["message"]["create_time"] = None
    imported([chat("k", turns("u", "a"), "a")], now=NOW + timedelta(days=1))

    imported([chat("k", dated, "v")], now=NOW + timedelta(days=2))

    assert Conversation.objects.get().head_seq == 3


def test_another_branch_shown_in_an_export_of_the_same_moment_is_followed(imported):
    fork = turns("u", "a")
    fork["b"] = node("assistant", "b", "u")
    imported([chat("k", fork, "a")])

    imported([chat("k", fork, "b")], now=NOW + timedelta(days=1))

    conversation = Conversation.objects.get()
    assert Message.objects.get(conversation=conversation, seq=conversation.head_seq).client_message_id == "b"


def test_an_answer_that_was_imported_while_it_was_written_is_gone_on_with(imported):
    def record(
        kind: str, uuid: str, parent: str | None, content: object, **message: object
    ) -> dict[str, object]:
        said = {"role": kind, "content": content, **message}
        return {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": said}

    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    told = {"id": "msg_1", "model": "claude-x"}
    records = [
        record("user", "u", None, "go"),
        record("assistant", "a1", "u", [{"type": "text", "text": "Looking."}], **told),
        record("assistant", "a2", "a1", [{"type": "text", "text": "There."}], **told),
        record("assistant", "a3", "a2", [call], **told),
        record("user", "r", "a3", [result]),
        record("assistant", "b", "r", [{"type": "text", "text": "Done."}], id="msg_2"),
    ]

    for count in (2, 3, 4, 6, 6):
        report = imported(lines(*records[:count]), "s.jsonl", now=NOW + timedelta(minutes=count))

    conversation = Conversation.objects.get()
    messages = Message.objects.filter(conversation=conversation).order_by("seq")
    assert list(messages.values_list("client_message_id", "parent_seq", "answers_seq")) == [
        ("u", None, None),
        ("a1", 1, None),
        ("a1+1", 2, None),
        ("a1+1+1", 3, None),
        ("r", 4, 4),
        ("b", 5, None),
    ]
    assert conversation.head_seq == 6
    assert not conversation.has_fork
    assert ToolCall.objects.get().status == CallStatus.SUCCEEDED
    assert Generation.objects.filter(conversation=conversation).count() == 1
    assert report.counts["conversations unchanged"] == 1
    assert report.remarks == []
    assert_well_formed(conversation.id)
