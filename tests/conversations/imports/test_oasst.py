from conversations.vocabulary import Role
from tests.conversations.imports.reading import lines, parents, planned, read_file, read_one, write


def reply(message_id: str, role: str, *replies: object, **fields: object) -> dict[str, object]:
    return {"message_id": message_id, "role": role, "text": message_id, "replies": list(replies), **fields}


def test_the_best_ranked_replies_are_the_conversation_and_the_rest_its_branches(tmp_path):
    prompt = reply(
        "p",
        "prompter",
        reply("second", "assistant", rank=1),
        reply("first", "assistant", reply("more", "prompter"), rank=0, model_name="m"),
    )

    conversation = read_one(tmp_path, lines({"message_tree_id": "t-1", "prompt": prompt}), "trees.jsonl")
    tree = planned(conversation)

    assert parents(conversation) == {"p": None, "first": "p", "second": "p", "more": "first"}
    assert tree.head_source_id == "more"
    assert tree.placed[0].message.role == Role.USER
    assert tree.placed[0].message.provider_role == "prompter"
    assert conversation.external_ref == "oasst:t-1"


def test_a_line_that_is_no_json_costs_only_itself(tmp_path):
    good = lines({"message_tree_id": "t-1", "prompt": reply("p", "prompter")})

    text = good + '{"message_tree_id": "t-2", "pro\n' + good.replace("t-1", "t-3")

    found = read_file(write(tmp_path, text, "t.jsonl"))

    assert [one.external_ref for one in found.conversations] == ["oasst:t-1", "oasst:t-3"]
    assert [(one.place, one.reason) for one in found.broken] == [
        ("t.jsonl, line 2", "not JSON: unterminated string starting at at character 27")
    ]


def test_three_hundred_siblings_keep_their_order(tmp_path):
    prompt = reply("p", "prompter", *(reply(f"a{n:03}", "assistant", rank=n) for n in range(300)))

    tree = planned(read_one(tmp_path, lines({"message_tree_id": "t", "prompt": prompt}), "t.jsonl"))

    assert [one.node.source_id for one in tree.placed] == ["p", *(f"a{n:03}" for n in range(300))]
    assert tree.head_source_id == "a000"


def test_a_message_a_line_gives_the_same_trees_in_whatever_order(tmp_path):
    def told(
        message_id: str, parent: str | None, role: str, tree: str, **fields: object
    ) -> dict[str, object]:
        whose = {"message_id": message_id, "parent_id": parent, "message_tree_id": tree}
        return {**whose, "role": role, "text": message_id, "created_date": None, **fields}

    messages = lines(
        told("more", "first", "prompter", "t-1"),
        told("q", None, "prompter", "t-2"),
        told("second", "p", "assistant", "t-1", rank=1),
        told("p", None, "prompter", "t-1"),
        {"message_id": "x", "role": "prompter", "text": "whose?"},
        told("first", "p", "assistant", "t-1", rank=0),
    )

    found = read_file(write(tmp_path, messages, "messages.jsonl"))

    first, second = found.conversations
    assert parents(first) == {"p": None, "first": "p", "second": "p", "more": "first"}
    assert planned(first).head_source_id == "more"
    assert [one.external_ref for one in (first, second)] == ["oasst:t-1", "oasst:t-2"]
    assert [(one.place, one.reason) for one in found.broken] == [
        ("messages.jsonl, line 5", "a message of no tree")
    ]
