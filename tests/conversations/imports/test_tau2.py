from conversations.vocabulary import CallStatus, PartType, Role
from tests.conversations.imports.reading import lines, paired, read_file, read_one, write

THINKING = {"type": "thinking", "thinking": "look it up", "signature": "c2ln"}
SIMULATION = {
    "id": "sim-1",
    "task_id": "13",
    "start_time": "2025-10-31T07:34:59.208917",
    "messages": [
        {"role": "assistant", "content": "Hi!", "tool_calls": None, "turn_idx": 0},
        {
            "role": "user",
            "content": None,
            "turn_idx": 1,
            "tool_calls": [{"id": "call_u", "name": "check_bar", "arguments": {}, "requestor": "user"}],
        },
        {
            "id": "call_u",
            "role": "tool",
            "content": "No signal",
            "requestor": "user",
            "error": True,
            "turn_idx": 2,
        },
        {
            "role": "assistant",
            "content": "I see.",
            "tool_calls": [],
            "turn_idx": 3,
            "raw_data": {"model": "claude-x", "thinking_blocks": [THINKING]},
        },
    ],
}


def test_the_customer_may_call_tools_too(tmp_path):
    conversation = read_one(tmp_path, lines(SIMULATION), "s.jsonl")
    messages, findings = paired(conversation)

    assert messages["2"].message.role == Role.USER
    assert messages["2"].call_statuses == {"call_u": CallStatus.FAILED}
    assert [part.type for part in messages["4"].message.parts] == [PartType.THINKING, PartType.TEXT]
    assert conversation.nodes[3].model == "claude-x"
    assert (conversation.external_ref, conversation.dialect) == ("tau2:sim-1", None)
    assert findings == []


def test_a_whole_result_file_is_its_simulations(tmp_path):
    other = {**SIMULATION, "id": "sim-2"}

    found = read_file(write(tmp_path, {"info": {}, "tasks": [], "simulations": [SIMULATION, other]}))

    assert [one.external_ref for one in found.conversations] == ["tau2:sim-1", "tau2:sim-2"]


def test_a_simulation_that_said_nothing_is_named_beside_the_others(tmp_path):
    failed = {"id": "sim-2", "task_id": "14", "messages": None}

    found = read_file(write(tmp_path, {"info": {}, "simulations": [SIMULATION, failed, "cut off"]}))

    assert [one.external_ref for one in found.conversations] == ["tau2:sim-1"]
    assert [(one.place, one.reason) for one in found.broken] == [
        ("export.json, item 1, simulation 2", "no simulation with a list of messages"),
        ("export.json, item 1, simulation 3", "no simulation with a list of messages"),
    ]
