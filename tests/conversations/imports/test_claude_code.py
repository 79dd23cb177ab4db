import zipfile

from conversations.vocabulary import CallStatus, Dialect, PartType
from conversations.wire.shells import FORM_STRING
from tests.conversations.imports.reading import lines, paired, parents, planned, read_file, read_one, write


def record(uuid: str, kind: str, content: object, parent: str | None, **fields: object) -> dict[str, object]:
    message = {"role": kind, "content": content}
    if "message_id" in fields:
        message["id"] = fields.pop("message_id")
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s-1",
        "timestamp": "2025-09-03T00:52:31.217Z",
        "message": message,
        **fields,
    }


def call(call_id: str, name: str = "Glob", **arguments: object) -> dict[str, object]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "ok"}


TEXT = {"type": "text", "text": "Looking."}


def test_records_that_share_a_message_id_are_one_message(tmp_path):
    session = lines(
        record("u", "user", "Find it", None),
        record("a1", "assistant", [TEXT], "u", message_id="msg_1"),
        record("a2", "assistant", [call("t1")], "a1", message_id="msg_1"),
        record("a3", "assistant", [call("t2")], "a2", message_id="msg_1"),
        record("r1", "user", [result("t1")], "a3"),
        record("r2", "user", [result("t2")], "r1"),
        record("b", "assistant", [TEXT], "r2", message_id="msg_2"),
    )

    conversation = read_one(tmp_path, session, "s.jsonl")
    messages, findings = paired(conversation)

    assert parents(conversation) == {"u": None, "a1": "u", "r1": "a1", "r2": "r1", "b": "r2"}
    assert [part.type for part in messages["a1"].message.parts] == [
        PartType.TEXT,
        PartType.TOOL_USE,
        PartType.TOOL_USE,
    ]
    assert messages["a1"].call_statuses == {"t1": CallStatus.SUCCEEDED, "t2": CallStatus.SUCCEEDED}
    assert messages["u"].message.shell == FORM_STRING
    assert findings == []
    assert conversation.dialect == Dialect.ANTHROPIC_MESSAGES
    assert "2 records were further pieces of 1 answers" in conversation.notes


def test_results_that_hang_each_from_its_own_calls_record_are_a_line_and_no_fork(tmp_path):
    session = lines(
        record("u", "user", "Find it", None),
        record("a1", "assistant", [call("t1")], "u", message_id="msg_1"),
        record("r1", "user", [result("t1")], "a1"),
        record("a2", "assistant", [call("t2")], "r1", message_id="msg_1"),
        record("r2", "user", [result("t2")], "a2"),
        record("b", "assistant", [TEXT], "r1", message_id="msg_2"),
    )

    conversation = read_one(tmp_path, session, "s.jsonl")

    assert parents(conversation) == {"u": None, "a1": "u", "r1": "a1", "r2": "r1", "b": "r2"}
    assert paired(conversation)[1] == []


def test_a_sub_agent_is_a_conversation_of_its_own_that_names_its_call(tmp_path):
    session = lines(
        record("u", "user", "Go", None),
        record("a", "assistant", [call("task_1", "Task", prompt="Run the tests")], "u"),
        record("x", "user", "Run the tests", None, isSidechain=True),
        record("y", "assistant", [TEXT], "x", isSidechain=True),
        record("r", "user", [result("task_1")], "a"),
    )

    main, side = read_file(write(tmp_path, session, "s.jsonl")).conversations

    assert (main.external_ref, main.parent_call_id) == ("claude-code:s-1", "")
    assert (side.external_ref, side.parent_call_id) == ("claude-code:s-1:x", "task_1")
    assert parents(main) == {"u": None, "a": "u", "r": "a"}
    assert parents(side) == {"x": None, "y": "x"}


def test_a_sub_agent_in_a_file_of_its_own_names_its_call_within_an_archive(tmp_path):
    prompt = "Run the tests"
    told = {"toolUseResult": {"agentId": "a-2"}}
    main = lines(
        record("u", "user", "Go", None),
        record("a", "assistant", [call("task_1", "Task", prompt=prompt), call("task_2", "Task")], "u"),
        record("r", "user", [result("task_2")], "a", **told),
    )

    def agents(agent: str, session: str) -> str:
        fields = {"isSidechain": True, "agentId": agent, "sessionId": session}
        return lines(record("x", "user", prompt, None, **fields))

    path = tmp_path / "projects.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("p/s-1/subagents/agent-a-1.jsonl", agents("a-1", "s-1"))
        archive.writestr("p/s-1/subagents/agent-a-2.jsonl", agents("a-2", "s-1"))
        archive.writestr("p/s-1.jsonl", main)
        archive.writestr("p/s-2/subagents/agent-a-3.jsonl", agents("a-3", "s-2"))

    called = {one.external_ref: one.parent_call_id for one in read_file(path).conversations}

    assert called == {
        "claude-code:s-1": "",
        "claude-code:s-1:agent-a-1": "task_1",
        "claude-code:s-1:agent-a-2": "task_2",
        # Another session asked the same.
        "claude-code:s-2:agent-a-3": "",
    }


def test_sub_agents_side_by_side_are_told_apart(tmp_path):
    session = lines(
        record("x1", "user", "one", None, isSidechain=True),
        record("y1", "user", "two", None, isSidechain=True),
        record("x2", "assistant", [TEXT], "x1", isSidechain=True),
        record("y2", "assistant", [TEXT], "y1", isSidechain=True),
    )

    first, second = read_file(write(tmp_path, session, "s.jsonl")).conversations

    assert (parents(first), parents(second)) == ({"x1": None, "x2": "x1"}, {"y1": None, "y2": "y1"})


def test_records_that_are_no_messages_are_counted_and_joined_through(tmp_path):
    session = lines(
        {"type": "summary", "summary": "Find a file", "leafUuid": "b"},
        record("u", "user", "Find it", None),
        {"type": "system", "uuid": "sys", "parentUuid": "u", "sessionId": "s-1", "content": "hook ran"},
        {"type": "queue-operation", "sessionId": "s-1", "content": "later"},
        record("b", "assistant", [TEXT], "sys"),
    )

    conversation = read_one(tmp_path, session, "s.jsonl")

    assert conversation.title == "Find a file"
    assert parents(conversation) == {"u": None, "b": "u"}
    assert conversation.notes == [
        "1 queue-operation records are no messages",
        "1 summary records are no messages",
        "1 system records are no messages",
    ]
    assert conversation.raw == session.strip().encode()


def test_broken_records_are_quarantined_beside_the_rest(tmp_path):
    session = (
        lines(
            record("u", "user", "Find it", None),
            {**record("x", "user", "", "u"), "message": "error"},
            record("b", "assistant", [TEXT], "x"),
            "massive error",
            {"silly": "this"},
        )
        + '{"type": "user", "uuid"\n'
    )

    conversation = read_one(tmp_path, session, "s.jsonl")
    tree = planned(conversation)

    assert parents(conversation) == {"u": None, "b": "u"}
    assert [(node.source_id, node.trouble) for node in tree.quarantined] == [
        ("x", "a record without content"),
        ("line-4", "a line that is no record"),
        ("line-5", "a record without a type"),
        ("line-6", "not JSON: expecting ':' delimiter at character 23"),
    ]


def test_records_without_any_parents_are_a_line(tmp_path):
    session = lines(
        {"type": "user", "timestamp": "2024-01-01T10:00:00Z", "message": {"content": "Fix it"}},
        {"type": "assistant", "timestamp": "2024-01-01T10:00:05Z", "message": {"content": [TEXT]}},
    )

    conversation = read_one(tmp_path, session, "session.jsonl")

    assert parents(conversation) == {"line-1": None, "line-2": "line-1"}
    assert conversation.external_ref == "claude-code:session.jsonl"


def test_a_compaction_goes_on_from_what_it_logically_follows(tmp_path):
    session = lines(
        record("u", "user", "One", None),
        {"type": "system", "uuid": "cut", "parentUuid": None, "logicalParentUuid": "u", "sessionId": "s-1"},
        record("v", "user", "Two", "cut"),
    )

    assert parents(read_one(tmp_path, session, "s.jsonl")) == {"u": None, "v": "u"}


def test_words_beside_a_result_do_not_make_a_fork_of_calls_made_at_once(tmp_path):
    session = lines(
        record("u", "user", "Find it", None),
        record("a1", "assistant", [call("t1")], "u", message_id="msg_1"),
        record("a2", "assistant", [call("t2")], "a1", message_id="msg_1"),
        record("r1", "user", [result("t1")], "a1"),
        record("r2", "user", [result("t2"), {"type": "text", "text": "Be quick."}], "a2"),
        record("b", "assistant", [TEXT], "r2", message_id="msg_2"),
    )

    conversation = read_one(tmp_path, session, "s.jsonl")
    messages, findings = paired(conversation)

    assert parents(conversation) == {"u": None, "a1": "u", "r1": "a1", "r2": "r1", "b": "r2"}
    assert messages["a1"].call_statuses == {"t1": CallStatus.SUCCEEDED, "t2": CallStatus.SUCCEEDED}
    assert findings == []


def test_a_session_may_begin_with_many_records_that_are_no_messages(tmp_path):
    summaries = [{"type": "summary", "summary": f"Earlier {n}", "leafUuid": f"l-{n}"} for n in range(120)]

    conversation = read_one(tmp_path, lines(*summaries, record("u", "user", "Find it", None)), "s.jsonl")

    assert parents(conversation) == {"u": None}
    assert "120 summary records are no messages" in conversation.notes
