import json

import pytest

from conversations.vocabulary import CallStatus, Dialect, PartType, Role
from conversations.wire.render import render_message
from conversations.wire.shapes import SPACED
from tests.conversations.imports.reading import lines, paired, parents, planned, read_file, read_one, write

CALL = {"id": "call_1", "type": "function", "function": {"name": "refund", "arguments": '{"order": 1042.50}'}}
DIALOGUE = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Refund 1042"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "done"},
    {"role": "assistant", "content": "Refunded."},
]


def test_a_record_of_messages_is_a_line_that_can_be_replayed(tmp_path):
    conversation = read_one(tmp_path, lines({"messages": DIALOGUE, "tools": []}), "train.jsonl")
    messages, findings = paired(conversation)

    assert conversation.dialect == Dialect.OPENAI_CHAT
    assert [message.message.role for message in messages.values()] == [
        Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT
    ]  # fmt: skip
    assert messages["3"].call_statuses == {"call_1": CallStatus.SUCCEEDED}
    assert findings == []
    rendered = [
        render_message(message.message, dialect=Dialect.OPENAI_CHAT, style=SPACED)
        for message in messages.values()
    ]
    assert rendered == [json.dumps(message) for message in DIALOGUE]


ASKED = {"type": "tool_use", "id": "toolu_1", "name": "refund", "input": {"order": 1042}}
DONE = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done", "is_error": False}
BLOCKS = [
    {"role": "user", "content": "Refund 1042"},
    {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "Which?", "signature": "c2ln"}, ASKED],
    },
    {"role": "user", "content": [DONE, {"type": "text", "text": "Thanks"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "Refunded."}]},
]


def test_messages_with_anthropics_blocks_are_calls_and_results_too(tmp_path):
    record = {"system": "Be brief.", "messages": BLOCKS}
    conversation = read_one(tmp_path, lines(record), "train.jsonl")
    messages, findings = paired(conversation)

    assert conversation.dialect == Dialect.ANTHROPIC_MESSAGES
    assert [part.type for part in messages["2"].message.parts] == [PartType.THINKING, PartType.TOOL_USE]
    assert messages["2"].call_statuses == {"toolu_1": CallStatus.SUCCEEDED}
    assert findings == []
    assert conversation.notes == ["the system prompt beside the messages is kept with the raw record"]
    rendered = [
        render_message(message.message, dialect=Dialect.ANTHROPIC_MESSAGES, style=SPACED)
        for message in messages.values()
    ]
    assert rendered == [json.dumps(message) for message in BLOCKS]


@pytest.mark.parametrize("odd", [["user"], {"is": "user"}, 7, None, True])
def test_a_role_or_a_type_that_is_no_name_costs_its_message_only(tmp_path, odd):
    listed = [*BLOCKS, {"role": odd, "content": "?"}, {"role": "user", "content": [{"type": odd}]}]

    conversation = read_one(tmp_path, {"messages": listed})

    assert conversation.dialect == Dialect.ANTHROPIC_MESSAGES
    assert [bool(node.trouble) for node in conversation.nodes] == [False] * 4 + [True, False]


def test_a_clipped_dialogue_with_anthropics_blocks_begins_with_an_orphan(tmp_path):
    messages, findings = paired(read_one(tmp_path, BLOCKS[2:], "clipped.json"))

    answer = messages["1"].message.parts[0]
    assert (answer.type, answer.tool_call_id, answer.orphan) == (PartType.TOOL_RESULT, "toolu_1", True)
    assert findings == ["a result for toolu_1 does not follow its call; kept as an orphan"]


def test_calls_beside_the_content_make_a_list_openais_whatever_its_blocks(tmp_path):
    odd = {"role": "user", "content": [{"type": "thinking", "thinking": "?"}]}
    messages, _ = paired(read_one(tmp_path, [*DIALOGUE, odd], "mixed.json"))

    assert messages["3"].call_statuses == {"call_1": CallStatus.SUCCEEDED}


def test_messages_that_name_their_parents_are_a_tree_in_whatever_order(tmp_path):
    listed = [
        {"id": "c", "parent_id": "b", "role": "user", "content": "Why?"},
        {"id": "a", "parent_id": None, "role": "user", "content": "Hi"},
        {"id": "b2", "parent_id": "a", "role": "assistant", "content": "Hello again"},
        {"id": "b", "parent_id": "a", "role": "assistant", "content": "Hello"},
    ]

    for content in (listed, {"messages": list(reversed(listed))}):
        found = parents(read_one(tmp_path, content))

        assert found == {"a": None, "b": "a", "b2": "a", "c": "b"}


def test_lists_without_a_record_around_them_are_dialogues_too(tmp_path):
    found = read_file(write(tmp_path, lines(DIALOGUE, DIALOGUE[:2]), "plain.jsonl"))

    assert [len(one.nodes) for one in found.conversations] == [5, 2]


def test_two_equal_dialogues_are_two_and_come_back_as_the_same_two(tmp_path):
    path = write(tmp_path, lines({"messages": DIALOGUE}, {"messages": DIALOGUE}), "twice.jsonl")

    first = [one.external_ref for one in read_file(path).conversations]

    assert len(set(first)) == 2
    assert [one.external_ref for one in read_file(path).conversations] == first


def test_a_file_of_single_messages_is_one_dialogue(tmp_path):
    for name, content in (("a.json", DIALOGUE), ("b.jsonl", lines(*DIALOGUE))):
        conversation = read_one(tmp_path, content, name)
        assert len(conversation.nodes) == 5


def test_a_trajectory_holds_its_messages_as_traj(tmp_path):
    conversation = read_one(
        tmp_path, lines({"task_id": 3, "trial": 0, "reward": 1.0, "traj": DIALOGUE}), "t.jsonl"
    )

    assert len(conversation.nodes) == 5


def test_a_call_without_an_id_is_given_one_and_its_result_found_by_the_name(tmp_path):
    function = {"name": "refund", "arguments": "{}"}
    dialogue = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": None, "function_call": function},
        {"role": "function", "name": "refund", "content": "ok"},
    ]

    messages, findings = paired(read_one(tmp_path, lines({"messages": dialogue}), "old.jsonl"))

    (asked,) = messages["2"].message.calls()
    (answer,) = messages["3"].message.results()
    assert asked.is_minted_id
    assert asked.tool_call_id == answer.tool_call_id
    assert findings == []


def test_what_stands_in_the_list_and_is_no_message_is_quarantined(tmp_path):
    conversation = read_one(
        tmp_path, lines({"messages": [DIALOGUE[1], DIALOGUE[4], {"content": "who?"}, 7]}), "odd.jsonl"
    )

    assert [(node.source_id, node.raw, node.trouble) for node in planned(conversation).quarantined] == [
        ("3", b'{"content": "who?"}', "a message without a role"),
        ("4", b"7", "an item that is no message"),
    ]


def test_a_record_without_messages_among_dialogues_is_named(tmp_path):
    found = read_file(write(tmp_path, lines({"messages": DIALOGUE}, {"messages": "none"}, 12), "m.jsonl"))

    assert len(found.conversations) == 1
    assert [(one.place, one.reason) for one in found.broken] == [
        ("m.jsonl, line 2", "a record without a list of messages"),
        ("m.jsonl, line 3", "a record without a list of messages"),
    ]


def test_a_second_call_with_one_id_is_kept_marked_and_reported(tmp_path):
    def asked(name: str) -> dict[str, object]:
        return {"id": "c:1", "type": "function", "function": {"name": name, "arguments": "{}"}}

    twice = {"role": "assistant", "content": None, "tool_calls": [asked("charge_card"), asked("unknown")]}
    answer = {"role": "tool", "tool_call_id": "c:1", "content": "ok"}
    record = {"messages": [{"role": "user", "content": "Pay"}, twice, answer]}

    messages, findings = paired(read_one(tmp_path, lines(record), "d.jsonl"))

    assert [part.orphan for part in messages["2"].message.parts] == [False, True]
    assert messages["2"].call_statuses == {"c:1": CallStatus.SUCCEEDED}
    assert findings == ["a second call c:1 in one message; kept as an orphan"]


def test_an_orphan_result_is_kept_and_marked(tmp_path):
    dialogue = [DIALOGUE[1], DIALOGUE[3], DIALOGUE[4]]

    messages, findings = paired(read_one(tmp_path, lines({"messages": dialogue}), "o.jsonl"))

    (orphan,) = messages["2"].message.parts
    assert (orphan.type, orphan.orphan) == (PartType.TOOL_RESULT, True)
    assert findings == ["a result for call_1 does not follow its call; kept as an orphan"]


def test_a_broken_item_far_down_a_file_of_single_messages_costs_only_itself(tmp_path):
    told = [{"role": "user", "content": str(number)} for number in range(40)]

    conversation = read_one(tmp_path, lines(*told, {"oops": 1}), "messages.jsonl")

    assert len(conversation.nodes) == 41
    assert conversation.nodes[-1].trouble == "a message without a role"
