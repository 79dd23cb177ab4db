from collections.abc import Mapping

from conversations.vocabulary import PartType, Role
from tests.conversations.imports.reading import paired, parents, planned, read_file, read_one, texts, write


def chat(messages: Mapping[str, object], current: str | None = None) -> list[dict[str, object]]:
    inner = {"history": {"currentId": current, "messages": messages}, "models": ["m-1"]}
    return [{"id": "w-1", "user_id": "u-7", "title": "T", "chat": inner}]


def message(
    role: str, content: object, parent: str | None = None, *children: str, **fields: object
) -> dict[str, object]:
    return {"role": role, "content": content, "parentId": parent, "childrenIds": list(children), **fields}


def test_output_items_are_preferred_to_the_prose_that_repeats_them(tmp_path):
    items = [
        {"type": "reasoning", "content": [{"type": "output_text", "text": "hm"}]},
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "get_weather",
            "arguments": '{"city": "Oslo"}',
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "Rain"},
        {"type": "message", "content": [{"type": "output_text", "text": "It rains."}]},
    ]
    messages = {
        "q": message("user", "Weather?", None, "a", timestamp=1700000000),
        "a": message("assistant", "<details>...</details>It rains.", "q", output=items, model="m-2"),
    }

    conversation = read_one(tmp_path, chat(messages, "a"))
    found, findings = paired(conversation)

    assert parents(conversation) == {"q": None, "a/1": "q", "a/2": "a/1", "a": "a/2"}
    assert [part.type for part in found["a/1"].message.parts] == [PartType.THINKING, PartType.TOOL_USE]
    assert found["a/2"].message.role == Role.TOOL
    assert found["a/2"].message.parts[0].text == "Rain"
    assert [part.text for part in found["a"].message.parts] == ["It rains."]
    assert findings == []
    assert conversation.account_external_id == "u-7"
    assert {node.model for node in conversation.nodes if node.model} == {"m-2"}


def test_messages_that_name_no_parent_hang_from_the_one_that_names_them(tmp_path):
    messages = {
        "a2": {"role": "assistant", "content": "Snow."},
        "q": {"role": "user", "content": "Weather?", "childrenIds": ["a1", "a2"]},
        "a1": {"role": "assistant", "content": "Rain."},
    }

    conversation = read_one(tmp_path, chat(messages, "a1"))

    assert parents(conversation) == {"q": None, "a1": "q", "a2": "q"}
    assert planned(conversation).head_source_id == "a1"


def test_content_in_an_unknown_form_is_kept_as_it_stands(tmp_path):
    conversation = read_one(tmp_path, chat({"q": message("user", {"widget": 1}), "r": message("user", None)}))

    (odd,), nothing = (paired(conversation)[0][name].message.parts for name in ("q", "r"))
    assert (odd.type, odd.payload, nothing) == (PartType.OTHER, b'{"widget":1}', [])


def test_a_current_id_that_names_an_error_moves_the_head_and_says_why(tmp_path):
    messages = {
        "m1": message("user", "hi", None, "m2"),
        "m2": message("assistant", "hello", "m1"),
        "m9": {"error": {"code": "content_filter"}, "followUps": ["q1"]},
    }

    tree = planned(read_one(tmp_path, chat(messages, "m9")))

    assert [one.node.source_id for one in tree.placed] == ["m1", "m2"]
    assert [node.raw for node in tree.quarantined] == [
        b'{"error":{"code":"content_filter"},"followUps":["q1"]}'
    ]
    assert (tree.head_source_id, tree.is_head_repaired) == ("m2", True)
    assert tree.findings == [
        "the head m9 could not be read (no message but an error (content_filter)); the head is m2 instead"
    ]


def test_a_single_chat_without_an_id_is_known_by_what_began_it(tmp_path):
    inner = {
        "id": "",
        "title": "One",
        "history": {"currentId": "a", "messages": {"a": message("user", "hi")}},
    }

    assert read_one(tmp_path, inner).external_ref.startswith("open-webui:begun-")


def test_a_head_that_is_an_error_and_nothing_else_leaves_nothing_to_show(tmp_path):
    tree = planned(read_one(tmp_path, chat({"m9": {"error": {"code": "content_filter"}}}, "m9")))

    assert (tree.head_source_id, tree.is_head_repaired) == (None, False)
    assert tree.findings == [
        "the head m9 could not be read (no message but an error (content_filter)); there is no other"
    ]


def test_a_chat_that_has_only_the_list_of_its_messages_is_a_line(tmp_path):
    listed = [
        {"id": "k-1", "role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "Rain."},
        {"id": "k-1", "role": "user", "content": "Still?"},
    ]
    empty = {"id": "w-1", "chat": {"history": {"messages": {}, "currentId": None}, "messages": listed}}
    without = {"id": "w-2", "chat": {"messages": listed}}

    export = read_file(write(tmp_path, [without, empty]))

    for conversation in export.conversations:
        assert parents(conversation) == {"k-1": None, "message-2": "k-1", "k-1~3": "message-2"}
        assert planned(conversation).head_source_id == "k-1~3"
        assert conversation.notes == ["the chat has a list of messages and no history; taken as a line"]
    assert [one.external_ref for one in export.conversations] == ["open-webui:w-2", "open-webui:w-1"]


def test_what_a_further_model_made_of_answers_side_by_side_can_be_read(tmp_path):
    merged = {"status": True, "content": "Both say rain."}
    messages = {
        "q": message("user", "Weather?", None, "a", "b", models=["m-1", "m-2"]),
        "a": message("assistant", "Rain.", "q", model="m-1", modelIdx=0),
        "b": message("assistant", "Rain, too.", "q", model="m-2", modelIdx=1, merged=merged),
    }

    conversation = read_one(tmp_path, chat(messages, "b"))

    assert texts(conversation) == [["Weather?"], ["Rain."], ["Rain, too.", "Both say rain."]]
