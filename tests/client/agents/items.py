"""Items of a session as the SDK hands them over: a question, its answer, and a turn with calls."""

from tests.client.agents.conftest import do

QUESTION = {"role": "user", "content": "What is the capital of France?"}
ANSWER = {"role": "assistant", "content": "Paris."}
TURN = [
    {"role": "user", "content": [{"type": "input_text", "text": "Is it raining there?"}]},
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "I must look."}],
        "encrypted_content": "gAAAAA==",
    },
    {
        "type": "function_call",
        "call_id": "call_1",
        "name": "weather",
        "arguments": '{"city": "Paris"}',
        "id": "fc_1",
        "status": "completed",
    },
    {"type": "function_call", "call_id": "call_2", "name": "clock", "arguments": "{}", "id": "fc_2"},
    {"type": "function_call_output", "call_id": "call_1", "output": "rain"},
    {
        "type": "function_call_output",
        "call_id": "call_2",
        "output": [{"type": "input_text", "text": "noon"}],
    },
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Yes, at noon.", "annotations": [], "logprobs": []}],
    },
]


def items(session, limit=None, **options):
    return do(session.get_items(limit, **options))


def user(text):
    return {"role": "user", "content": text}
