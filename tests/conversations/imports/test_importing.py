import json
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command

from access.actors import Actor, ActorKind
from access.models import Realm
from conversations.drafts import MessageDraft, PartDraft
from conversations.models import (
    Account,
    Conversation,
    Generation,
    HeadMove,
    Message,
    MessagePart,
    RawBody,
    ToolCall,
)
from conversations.services.appending import append_message
from conversations.services.erased import remember_erased, subject_digest
from conversations.services.importing.importing import import_file
from conversations.services.importing.report import ExitStatus, ImportReport
from conversations.services.raw_bodies import open_raw_body
from conversations.vocabulary import (
    CallStatus,
    ErasedKind,
    HeadMoveReason,
    PartType,
    RawClass,
    ReplayObstacle,
    Role,
    Source,
)
from tests.conversations.conftest import NOW
from tests.conversations.imports.reading import lines, write
from tests.conversations.invariants import assert_well_formed

IMPORTER = Actor(ActorKind.IMPORTER)


@pytest.fixture
def imported(realm, tmp_path):
    def run(content, name="export.json", *, now=NOW, account="c-7", **fields) -> ImportReport:
        path = write(tmp_path, content, name)
        return import_file(path=path, realm=realm, actor=IMPORTER, now=now, account=account, **fields)

    return run


def node(role, text, parent=None, **fields):
    message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}, **fields}
    return {"parent": parent, "children": [], "message": message}


def chat(key, mapping, head=None, **fields):
    return {
        "conversation_id": key,
        "title": f"chat {key}",
        "mapping": mapping,
        "current_node": head,
        **fields,
    }


def five(second=None):
    """Five conversations; `second` replaces the nodes of the second."""
    plain = {"u": node("user", "hi"), "a": node("assistant", "hello", "u")}
    return [chat(f"k{n}", second if second and n == 2 else plain, "a") for n in range(1, 6)]


def rows() -> dict[str, int]:
    tables = (Account, Conversation, Message, MessagePart, ToolCall, HeadMove, RawBody)
    return {table.__name__: table.objects.count() for table in tables}


def test_a_conversation_arrives_with_its_tree_head_log_and_original(imported):
    moment = 1_700_000_000.0
    mapping = {
        "u": node("user", "Hi", create_time=moment),
        "a": node("assistant", "one", "u", create_time=moment + 1),
        "b": node("assistant", "two", "u", create_time=moment + 2),
    }
    export = [chat("k", mapping, "a", create_time=moment)]

    report = imported(export)

    conversation = Conversation.objects.get()
    started = datetime.fromtimestamp(moment, UTC)
    assert (conversation.source, conversation.external_ref, conversation.title) == (
        Source.IMPORTED,
        "chatgpt:k",
        "chat k",
    )
    assert conversation.started_at == started
    # UUIDv7: the first 48 bits are the conversation's own start, not the import's.
    assert conversation.id.int >> 80 == int(moment * 1000)
    assert conversation.last_activity_at == started + timedelta(seconds=2)
    assert (conversation.has_fork, conversation.replay_obstacle) == (True, ReplayObstacle.FOREIGN_FORMAT)
    assert list(Message.objects.order_by("seq").values_list("seq", "parent_seq", "client_message_id")) == [
        (1, None, "u"),
        (2, 1, "a"),
        (3, 1, "b"),
    ]
    move = HeadMove.objects.get()
    assert (move.head_seq, move.reason, move.moved_at, move.moved_by_kind) == (
        2,
        HeadMoveReason.IMPORT,
        NOW,
        ActorKind.IMPORTER,
    )
    original = RawBody.objects.get()
    assert original.raw_class == RawClass.IMPORT
    assert json.loads(open_raw_body(original)) == export[0]
    assert report.exit_status == ExitStatus.COMPLETE
    assert report.summary() == "1 conversations new, 3 messages, 3 parts, 1 branches, 0 failed"
    assert_well_formed(conversation.id)


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


def test_another_realm_gets_conversations_of_its_own(imported, tmp_path):
    imported(five())
    other = Realm.objects.create(slug="other", name="Other", created_at=NOW)

    path = write(tmp_path, five())
    import_file(path=path, realm=other, actor=IMPORTER, now=NOW, account="c-7")

    assert Conversation.objects.filter(account__realm=other).count() == 5
    assert Conversation.objects.count() == 10


def test_a_dry_run_says_what_would_happen_and_keeps_nothing(imported):
    before = rows()

    report = imported(five(), is_dry_run=True)

    assert rows() == before
    assert report.summary() == "dry run, nothing kept: 5 conversations new, 10 messages, 10 parts, 0 failed"


def test_one_bad_conversation_never_sinks_the_file(imported):
    export = [*five()[:2], {"title": "C", "mapping": "not-an-object"}]

    report = imported(export)

    assert Conversation.objects.count() == 2
    assert report.exit_status == ExitStatus.PARTIAL
    assert [(one.place, one.text) for one in report.failed] == [
        ('export.json, item 3, conversation "C"', "a conversation without a mapping of nodes")
    ]


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


def test_unknown_times_stay_unknown_and_purge_nothing_by_accident(imported):
    imported([chat("k", {"u": node("user", "hi", create_time=None)}, "u", create_time=0)])

    conversation = Conversation.objects.get()
    assert conversation.started_at is None
    assert Message.objects.get().occurred_at is None
    assert conversation.last_activity_at == NOW


def test_an_empty_conversation_is_kept(imported):
    report = imported([chat("k", {"root": {"parent": None, "children": [], "message": None}}, "root")])

    conversation = Conversation.objects.get()
    assert (conversation.head_seq, conversation.next_seq) == (None, 1)
    assert HeadMove.objects.count() == 0
    assert report.exit_status == ExitStatus.COMPLETE


def test_a_source_that_names_its_customers_needs_no_account(imported):
    table = "chat,role,text,user_id\nx,user,hi,cust-1\ny,user,ho,cust-2\n"

    imported(table, "dump.csv", account="")

    owners = Conversation.objects.order_by("external_ref").values_list("account__external_id", flat=True)
    assert list(owners) == ["cust-1", "cust-2"]


def test_without_any_account_nothing_is_guessed(imported):
    report = imported(five(), account="")

    assert Conversation.objects.count() == 0
    assert {one.text for one in report.failed} == {"the source does not say whose it is; name the account"}


def test_a_payload_too_large_for_a_row_lies_in_blob_storage(imported):
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 50_000}}
    imported(lines({"messages": [{"role": "user", "content": [image]}]}), "train.jsonl")

    part = MessagePart.objects.get()
    assert part.payload is None
    assert part.blob is not None
    assert part.blob.size > 50_000


@pytest.mark.parametrize("size", [5_000])
def test_a_line_of_five_thousand_messages_goes_in(imported, size):
    dialogue = [{"role": "assistant" if n % 2 else "user", "content": f"message {n}"} for n in range(size)]

    report = imported(lines({"id": "long", "messages": dialogue}), "long.jsonl")

    assert report.counts["messages"] == size
    assert Conversation.objects.get().head_seq == size
    assert Message.objects.get(seq=size).parent_seq == size - 1


def test_three_hundred_siblings_go_in(imported):
    replies = [{"message_id": f"a{n:03}", "role": "assistant", "text": str(n), "rank": n} for n in range(300)]
    prompt = {"message_id": "p", "role": "prompter", "text": "?", "replies": replies}

    imported(lines({"message_tree_id": "t", "prompt": prompt}), "trees.jsonl")

    assert Message.objects.filter(parent_seq=1).count() == 300
    assert Conversation.objects.get().head_seq == 2


def test_the_command_says_what_it_did_and_how_it_ended(realm, tmp_path, capsys):
    good = write(tmp_path, five(), "good.json")
    with pytest.raises(SystemExit) as ended:
        call_command(
            "import_conversations", str(good), str(write(tmp_path, "{}", "none.json")), account="c-7"
        )

    assert ended.value.code == ExitStatus.PARTIAL
    assert capsys.readouterr().out.splitlines() == [
        "good.json: ChatGPT export: 5 conversations new, 10 messages, 10 parts, 0 failed",
        "none.json: refused: 0 conversations new, 0 messages, 0 failed, 1 refused",
        "  refused, taken for: none.json: JSON of something else (an empty object)",
    ]


def test_the_command_ends_with_one_where_all_was_refused(realm, tmp_path):
    with pytest.raises(SystemExit) as ended:
        call_command("import_conversations", str(write(tmp_path, "# no\n", "a.md")), account="c-7")

    assert ended.value.code == ExitStatus.REFUSED


def test_an_answer_whose_model_is_known_has_an_attempt_that_names_it(imported):
    mapping = {
        "u": node("user", "hi"),
        "a": node("assistant", "hello", "u"),
        "b": node("assistant", "hullo", "u", metadata={"model_slug": "model-y"}),
    }

    imported([chat("k", mapping, "a", default_model_slug="model-x")])

    attempts = Generation.objects.order_by("number")
    assert list(attempts.values_list("number", "served_model", "leaf_seq", "message_seq", "provider")) == [
        (1, "model-x", 1, 2, "openai"),
        (2, "model-y", 1, 3, "openai"),
    ]
    assert {attempt.dialect for attempt in attempts} == {""}
    assert {attempt.cost_usd for attempt in attempts} == {None}
    conversation = Conversation.objects.get()
    assert conversation.next_generation == 3
    assert_well_formed(conversation.id)


def erase(realm, kind, value) -> None:
    digest = subject_digest(kind=kind, realm_id=realm.pk, value=value)
    remember_erased(digests=[(kind, digest)], now=NOW)


def test_a_conversation_that_was_erased_is_not_brought_back(imported, realm):
    erase(realm, ErasedKind.EXTERNAL_REF, "chatgpt:k2")

    report = imported(five())

    assert Conversation.objects.count() == 4
    assert [(one.place, one.text) for one in report.failed] == [
        ("export.json, item 2", "of somebody who was erased; nothing of it is kept")
    ]


def test_an_erased_customer_comes_back_neither_as_account_nor_as_the_sources(imported, realm):
    erase(realm, ErasedKind.EXTERNAL_ID, "cust-1")
    table = "chat,role,text,user_id\nx,user,hi,cust-1\ny,user,ho,cust-2\n"

    imported(table, "dump.csv", account="")
    imported(table, "dump.csv", account="somebody")

    owners = Conversation.objects.values_list("account__external_id", "external_ref")
    assert sorted(owners) == [("cust-2", "table:y"), ("somebody", "table:y")]
    assert not Account.objects.filter(external_id="cust-1").exists()


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
