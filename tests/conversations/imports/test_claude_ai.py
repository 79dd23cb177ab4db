from conversations.imports.drafting import moment_of
from conversations.vocabulary import CallStatus, PartStatus, PartType, Role
from tests.conversations.imports.reading import paired, parents, planned, read_file, read_one, write
from tests.conversations.imports.reading import said as words

ROOT = "00000000-0000-4000-8000-000000000000"


def said(uuid: str, sender: str, *blocks: object, **fields: object) -> dict[str, object]:
    return {"uuid": uuid, "sender": sender, "text": "", "content": list(blocks), **fields}


def text(words: object) -> dict[str, object]:
    return {"type": "text", "text": words, "citations": []}


def export(*messages: object, **fields: object) -> list[dict[str, object]]:
    return [{"uuid": "chat-1", "name": "Ferries", "chat_messages": list(messages), **fields}]


def test_null_texts_and_names_do_not_stop_it_and_stay_null(tmp_path):
    blocks = [text(None), {"type": "tool_result", "content": None}, text("hello")]
    export_file = export(said("u-1", "human", *blocks, attachments=None), name=None)

    conversation = read_one(tmp_path, export_file)
    messages, findings = paired(conversation)

    (words, result, hello) = [part for message in messages.values() for part in message.message.parts]
    assert conversation.title == ""
    assert (words.type, words.text) == (PartType.OTHER, None)
    assert words.payload == b'{"type":"text","text":null,"citations":[]}'
    assert (result.type, result.orphan) == (PartType.TOOL_RESULT, True)
    assert hello.text == "hello"
    assert findings == ["a result for no call does not follow its call; kept as an orphan"]


def test_a_result_in_its_callers_message_becomes_a_message_of_its_own(tmp_path):
    call = {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "ferry"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "none", "is_error": True}
    answer = said("a", "assistant", call, result, text("None today."), created_at="2025-01-01T00:00:05Z")
    conversation = read_one(
        tmp_path, export(said("u", "human", text("?")), answer, said("v", "human", text("Ah.")))
    )
    messages, findings = paired(conversation)

    assert parents(conversation) == {"u": None, "a/1": "u", "a/2": "a/1", "a": "a/2", "v": "a"}
    assert [messages[key].message.role for key in ("a/1", "a/2", "a")] == [
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
    ]
    assert messages["a/2"].message.parts[0].status == PartStatus.ERROR
    assert messages["a/1"].call_statuses == {"toolu_1": CallStatus.FAILED}
    assert messages["a"].message.occurred_at == moment_of("2025-01-01T00:00:05Z")
    assert findings == []
    assert conversation.dialect is None


def test_ids_that_the_export_leaves_out_are_minted_and_paired_by_place(tmp_path):
    call: dict[str, object] = {"type": "tool_use", "id": None, "name": "artifacts", "input": {}}
    conversation = read_one(
        tmp_path, export(said("a", "assistant", call, {"type": "tool_result", "content": []}))
    )
    messages, findings = paired(conversation)

    (asked,) = messages["a/1"].message.parts
    (answer,) = messages["a"].message.parts
    assert asked.tool_call_id == answer.tool_call_id == "minted-a-1"
    assert (asked.is_minted_id, answer.is_minted_id) == (True, True)
    assert findings == []


def test_results_without_ids_of_calls_made_at_once_are_paired_by_their_names(tmp_path):
    blocks = [
        {"type": "tool_use", "name": "search", "input": {}},
        {"type": "tool_use", "name": "fetch", "input": {}},
        {"type": "tool_result", "name": "fetch", "content": "second"},
        {"type": "tool_result", "name": "search", "content": "first"},
    ]
    messages, findings = paired(read_one(tmp_path, export(said("a", "assistant", *blocks))))

    assert [(part.tool_call_id, part.text) for part in messages["a"].message.parts] == [
        ("minted-a-2", "second"),
        ("minted-a-1", "first"),
    ]
    assert findings == []


def test_a_result_that_may_be_either_calls_is_nobodys(tmp_path):
    calls = [{"type": "tool_use", "name": name, "input": {}} for name in ("search", "fetch")]
    result = {"type": "tool_result", "content": "whose?"}

    messages, findings = paired(read_one(tmp_path, export(said("a", "assistant", *calls, result))))

    assert [part.orphan for part in messages["a"].message.parts] == [True]
    assert findings[0] == "a result for no call does not follow its call; kept as an orphan"


def test_a_bare_string_among_the_blocks_is_what_was_said(tmp_path):
    messages, _ = paired(read_one(tmp_path, export(said("a", "human", "Hello", text("there")))))

    hello, _ = messages["a"].message.parts
    assert (hello.type, hello.text) == (PartType.TEXT, "Hello")


def test_parents_make_a_tree_and_the_stated_leaf_is_the_head(tmp_path):
    conversation = read_one(
        tmp_path,
        export(
            said("u", "human", text("?"), parent_message_uuid=ROOT),
            said("a", "assistant", text("1"), parent_message_uuid="u"),
            said("b", "assistant", text("2"), parent_message_uuid="u"),
            current_leaf_message_uuid="a",
        ),
    )

    assert parents(conversation) == {"u": None, "a": "u", "b": "u"}
    assert planned(conversation).head_source_id == "a"


def test_older_exports_have_the_text_only(tmp_path):
    conversation = read_one(tmp_path, export({"uuid": "u", "sender": "human", "text": "Hello"}))

    assert [part.text for part in words(conversation.nodes[0]).parts] == ["Hello"]


def test_attachments_and_files_are_parts(tmp_path):
    attachment = {"file_name": "a.txt", "extracted_content": "words of the file"}
    message = said("u", "human", text("see"), attachments=[attachment], files=[{"file_name": "b.png"}])

    parts = words(read_one(tmp_path, export(message)).nodes[0]).parts

    assert [part.type for part in parts] == [PartType.TEXT, PartType.DOCUMENT, PartType.OTHER]
    assert parts[1].text == "words of the file"


def test_a_file_that_stands_in_both_lists_is_one_part(tmp_path):
    first, second = {"file_uuid": "f-1"}, {"file_uuid": "f-2"}
    message = said("u", "human", text("see"), files=[first], files_v2=[first, second])

    parts = words(read_one(tmp_path, export(message)).nodes[0]).parts

    assert [part.payload for part in parts[1:]] == [b'{"file_uuid":"f-1"}', b'{"file_uuid":"f-2"}']


def test_a_message_without_a_sender_is_quarantined(tmp_path):
    conversation = read_one(tmp_path, export({"text": "\ue203Hello\ue204"}))

    (broken,) = planned(conversation).quarantined
    assert broken.trouble == "a message without a sender that we know"
    assert broken.raw == '{"text":"\ue203Hello\ue204"}'.encode()


def test_projects_are_refused_by_name_and_the_conversations_beside_them_go_in(tmp_path):
    found = read_file(write(tmp_path, export(said("u", "human", text("?")))))

    assert found.label == "Claude.ai export"
    assert [one.external_ref for one in found.conversations] == ["claude.ai:chat-1"]


def test_conversations_without_any_id_are_two(tmp_path):
    def nameless(question: str) -> dict[str, object]:
        return {"name": None, "chat_messages": [{"sender": "human", "text": question}]}

    found = read_file(write(tmp_path, [nameless("one"), nameless("two"), nameless("two")])).conversations

    assert len({one.external_ref for one in found}) == 3


def test_messages_whose_parents_are_all_null_are_a_line(tmp_path):
    told = [said(uuid, "human", text(uuid), parent_message_uuid=None) for uuid in ("u", "v", "w")]

    assert parents(read_one(tmp_path, export(*told))) == {"u": None, "v": "u", "w": "v"}
