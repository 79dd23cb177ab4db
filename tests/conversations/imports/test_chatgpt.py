import json
import zipfile

from conversations.vocabulary import CallStatus, PartType, Role
from tests.conversations.imports.reading import paired, parents, planned, read_file, read_one, texts, write
from tests.conversations.imports.reading import said as words


def said(role: str, *parts: object, **fields: object) -> dict[str, object]:
    content = {"content_type": "text", "parts": list(parts)}
    return {"author": {"role": role}, "content": content, "recipient": "all", **fields}


def entry(message: object, parent: str | None, *children: str) -> dict[str, object]:
    return {"message": message, "parent": parent, "children": list(children)}


def export(mapping: object, **fields: object) -> list[dict[str, object]]:
    return [{"conversation_id": "conv-1", "title": "A trip", "mapping": mapping, **fields}]


def test_a_hidden_system_node_in_the_middle_keeps_one_root(tmp_path):
    hidden = said("system", "", metadata={"is_visually_hidden_from_conversation": True})
    mapping = {
        "n0": entry(None, None, "n1"),
        "n1": entry(said("user", "Hi"), "n0", "n2"),
        "n2": entry(hidden, "n1", "n3"),
        "n3": entry(said("assistant", "Hello"), "n2"),
    }

    conversation = read_one(tmp_path, export(mapping, current_node="n3"))

    assert parents(conversation) == {"n1": None, "n2": "n1", "n3": "n2"}
    assert [node.source_id for node in conversation.nodes if node.is_hidden] == ["n2"]
    assert planned(conversation).head_source_id == "n3"
    assert conversation.external_ref == "chatgpt:conv-1"
    assert conversation.dialect is None


def test_one_bad_conversation_is_named_and_the_others_go_in(tmp_path):
    good = export({"z": entry(said("user", "a"), None)}, conversation_id="A", default_model_slug="model-x")
    profile = {"content_type": "user_editable_context", "user_profile": "Name: P. Sample"}
    hidden = export({"h": {"message": {"author": {"role": "user"}, "content": profile}}}, conversation_id="B")
    bad = {"conversation_id": "C", "title": "what she said", "mapping": "not-an-object"}

    found = read_file(write(tmp_path, [*good, *hidden, bad]))

    first, second = found.conversations
    (broken,) = found.broken
    assert [one.model for one in first.nodes] == ["model-x"]
    assert second.nodes[0].is_hidden
    assert words(second.nodes[0]).parts[0].provider_type == "user_editable_context"
    assert words(second.nodes[0]).parts[0].text == "Name: P. Sample"
    assert broken.place == "export.json, item 3, conversation C"
    assert broken.reason == "a conversation without a mapping of nodes"


def test_two_nodes_under_one_key_are_said(tmp_path):
    first, second = (json.dumps(entry(said("user", word), None)) for word in ("one", "two"))
    chat = f'{{"conversation_id":"c","mapping":{{"n1":{first},"n1":{second},"n1":{second}}}}}'

    conversation = read_one(tmp_path, f"[{chat}]".encode())

    assert texts(conversation) == [["two"]]
    assert conversation.notes == ["2 keys stand twice in one object; the last of each is read"]


def test_null_title_time_and_parts_stay_unknown(tmp_path):
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f1"}
    content = {"content_type": "multimodal_text", "parts": [pointer, None, "see image"]}
    message = {"author": {"role": "tool", "name": None}, "create_time": None, "content": content}

    conversation = read_one(
        tmp_path, export({"z": {"parent": None, "message": message}}, title=None, create_time=None)
    )

    (node,) = conversation.nodes
    assert (conversation.title, conversation.started_at, words(node).occurred_at) == ("", None, None)
    assert [part.type for part in words(node).parts] == [PartType.IMAGE, PartType.OTHER, PartType.TEXT]
    assert [part.payload for part in words(node).parts][1] == b"null"
    assert "asset missing: file-service://f1" in conversation.notes


def test_a_call_and_its_result_are_paired_by_place_under_an_id_that_says_so(tmp_path):
    call = {"content_type": "code", "language": "unknown", "text": 'search("ferries")'}
    found = {"content_type": "tether_browsing_display", "result": "Three ferries a day."}
    quote = {"content_type": "tether_quote", "url": "https://x.example", "text": "At nine."}
    mapping = {
        "u": entry(said("user", "Ferries?"), None, "c"),
        "c": entry({**said("assistant"), "content": call, "recipient": "browser"}, "u", "r"),
        "r": entry({**said("tool"), "content": found}, "c", "q"),
        "q": entry({**said("tool"), "content": quote}, "r", "a"),
        "a": entry(said("assistant", "Three."), "q"),
    }

    conversation = read_one(tmp_path, export(mapping, current_node="a"))
    messages, findings = paired(conversation)

    (asked,) = messages["c"].message.parts
    (answer,) = messages["r"].message.parts
    assert (asked.type, asked.tool_name, asked.tool_call_id) == (PartType.TOOL_USE, "browser", "minted-c-1")
    assert asked.is_minted_id
    assert (answer.type, answer.tool_call_id, answer.text) == (
        PartType.TOOL_RESULT,
        "minted-c-1",
        "Three ferries a day.",
    )
    assert messages["c"].call_statuses == {"minted-c-1": CallStatus.SUCCEEDED}
    assert messages["q"].message.role == Role.TOOL
    assert messages["q"].message.parts[0].type == PartType.OTHER
    assert findings == []
    assert conversation.notes == [
        "1 results paired with their calls by place; the ids are ours",
        "1 tool messages follow no call; kept as tool messages",
    ]


def test_branches_stand_in_the_order_of_the_children_list(tmp_path):
    mapping = {
        "b2": entry(said("assistant", "two"), "u"),
        "b1": entry(said("assistant", "one"), "u"),
        "u": entry(said("user", "?"), None, "b1", "b2"),
    }

    assert texts(read_one(tmp_path, export(mapping, current_node="b2"))) == [["?"], ["one"], ["two"]]


def test_an_odd_node_is_quarantined_with_its_bytes(tmp_path):
    mapping = {"u": entry(said("user", "?"), None, "x"), "x": {"parent": "u", "message": {"error": 1.50}}}

    tree = planned(read_one(tmp_path, export(mapping)))

    (broken,) = tree.quarantined
    assert broken.trouble == "a node without a role"
    assert json.loads(broken.raw or b"") == mapping["x"]


def test_an_archive_of_several_files_is_read_whole(tmp_path):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in (0, 1):
            part = export({"z": entry(said("user", "a"), None)}, conversation_id=f"c{number}")
            archive.writestr(f"conversations-00{number}.json", json.dumps(part))

    found = read_file(path)

    assert [one.external_ref for one in found.conversations] == ["chatgpt:c0", "chatgpt:c1"]


def test_an_asset_that_lies_in_the_archive_is_named(tmp_path):
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_9a"}
    message = said("user", pointer)
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps(export({"z": entry(message, None)})))
        archive.writestr("file_9a-photo.png", b"PNG")

    (conversation,) = read_file(path).conversations

    assert conversation.notes == ["asset file_9a-photo.png stays in the archive; the pointer to it is kept"]


def test_a_text_that_the_database_cannot_hold_is_kept_in_its_payload(tmp_path):
    conversation = read_one(tmp_path, export({"z": entry(said("user", "a\x00b\ud83d"), None)}))

    (part,) = words(conversation.nodes[0]).parts
    assert part.text == "a\ufffdb\ufffd"
    assert part.is_text_copy
    assert part.payload == b'{"type":"text","text":"a\\u0000b\\ud83d"}'


def test_a_conversation_is_known_by_its_nodes_alone(tmp_path):
    conversation = read_one(tmp_path, {"mapping": {"a": entry(said("user", "Hi"), None)}})

    assert texts(conversation) == [["Hi"]]


def test_nodes_without_any_links_are_a_line(tmp_path):
    mapping = {"n1": {"message": said("user", "?")}, "n2": {"message": said("assistant", "!")}}

    conversation = read_one(tmp_path, export(mapping))

    assert parents(conversation) == {"n1": None, "n2": "n1"}
    assert conversation.notes == [
        "the nodes name neither parents nor children; taken as a line, in file order"
    ]


def test_nodes_that_name_no_parent_hang_from_the_one_that_names_them(tmp_path):
    mapping = {
        "c": {"message": said("assistant", "Hello")},
        "b": None,
        "a": {"message": said("user", "Hi"), "children": ["b", "d"]},
        "d": {"message": said("assistant", "Hello again")},
        "e": entry(said("user", "Thanks"), "b"),
        "f": entry(said("user", "A root that says so"), None),
    }
    mapping["d"]["children"] = ["c", "f"]

    found = parents(read_one(tmp_path, export(mapping, current_node="c")))

    assert found == {"a": None, "d": "a", "e": "a", "c": "d", "f": None}


def test_conversations_without_ids_are_known_by_what_began_them_and_never_merged(tmp_path):
    def conversation(question: str, *answers: str, title: str | None = None) -> dict[str, object]:
        ids = ["n0", "n1", *(f"n{number}" for number in range(2, 2 + len(answers)))]
        messages = [None, said("user", question), *(said("assistant", words) for words in answers)]
        nodes = {
            node_id: entry(message, before, *after)
            for node_id, message, before, after in zip(
                ids, messages, [None, *ids], [*([one] for one in ids[1:]), []], strict=False
            )
        }
        return {"title": title, "mapping": nodes, "current_node": ids[-1]}

    whole = [conversation("one", "1"), conversation("two", "2"), conversation("two", "zwei")]
    later = [conversation("one", "1", "and 1"), *whole[1:]]

    first = [one.external_ref for one in read_file(write(tmp_path, whole)).conversations]
    again = [one.external_ref for one in read_file(write(tmp_path, later)).conversations]

    assert len(set(first)) == 3
    assert again == first


def test_a_head_that_is_no_id_is_reported_and_the_last_leaf_shown(tmp_path):
    mapping = {"u": entry(said("user", "?"), None, "a"), "a": entry(said("assistant", "!"), "u")}

    tree = planned(read_one(tmp_path, export(mapping, current_node={"error": {"code": "x"}})))

    assert (tree.head_source_id, tree.is_head_repaired) == ("a", True)
    assert tree.findings == ['the head {"error":{"code":"x"}} is not in the file; the head is a instead']


def test_ids_that_are_numbers_still_link_the_nodes(tmp_path):
    mapping = {
        "1": {"message": said("user", "?"), "parent": None, "children": [3, 2]},
        "2": {"message": said("assistant", "two"), "parent": 1},
        "3": {"message": said("assistant", "one"), "parent": 1},
    }

    tree = planned(read_one(tmp_path, export(mapping, current_node=2)))

    assert [(one.node.source_id, one.parent_source_id) for one in tree.placed] == [
        ("1", None),
        ("3", "1"),
        ("2", "1"),
    ]
    assert (tree.head_source_id, tree.findings) == ("2", [])


def test_a_node_that_the_file_leaves_out_in_the_middle_keeps_one_root(tmp_path):
    mapping = {
        "n1": entry(said("user", "Hi"), None, "n2"),
        "n3": entry(said("assistant", "Hello"), "n2", "n9"),
        "n4": entry(said("assistant", "Nobody names n5"), "n5"),
    }

    conversation = read_one(tmp_path, export(mapping, current_node="n3"))

    assert parents(conversation) == {"n1": None, "n3": "n1", "n4": None}
    assert planned(conversation).head_source_id == "n3"
    assert conversation.notes == ["node n2 is not in the file; what hangs from it is joined to n1"]
