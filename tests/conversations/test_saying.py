"""Messages composed from blocks: each dialect's own form, and the same message as a recorded one."""

import json

import pytest

from conversations.errors import StoreError
from conversations.models import Message
from conversations.services.appending import append_message
from conversations.services.recording import record_exchange
from conversations.services.saying.blocks import SaidBlock
from conversations.services.saying.messages import SaidMessage, draft_message
from conversations.services.tool_results import answer_calls
from conversations.vocabulary import Dialect, HistoryMatch, PartType, Role
from tests.conversations.conftest import CUSTOMER, NOW

TEXT = SaidBlock(PartType.TEXT, text="Where is it?")
CALL = SaidBlock(PartType.TOOL_USE, call_id="call_1", name="get_order", arguments='{"id":1042}')
RESULT = SaidBlock(PartType.TOOL_RESULT, call_id="call_1", text="in transit")

REQUESTS = {
    Dialect.ANTHROPIC_MESSAGES: {
        "model": "claude-sonnet-4-5",
        "max_tokens": 9,
        "messages": [
            {"role": "user", "content": "Where is it?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Let me look."},
                    {"type": "tool_use", "id": "call_1", "name": "get_order", "input": {"id": 1042}},
                ],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "in transit"}],
            },
        ],
    },
    Dialect.OPENAI_CHAT: {
        "model": "gpt-5",
        "messages": [
            {"role": "user", "content": "Where is it?"},
            {
                "role": "assistant",
                "content": "Let me look.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "get_order", "arguments": '{"id": 1042}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "in transit"},
        ],
    },
    Dialect.OPENAI_RESPONSES: {
        "model": "gpt-5",
        "input": [
            {"role": "user", "content": "Where is it?"},
            {"role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
            {
                "type": "function_call",
                "call_id": "call_1",
                "name": "get_order",
                "arguments": '{"id":1042}',
            },
            {"type": "function_call_output", "call_id": "call_1", "output": "in transit"},
        ],
    },
}


def drafted(*blocks, role=Role.USER, dialect=None):
    return draft_message(SaidMessage(role, blocks, dialect=dialect), dialect=dialect)


@pytest.mark.django_db
@pytest.mark.parametrize("spoken", [True, False], ids=["its dialect", "no dialect"])
@pytest.mark.parametrize("dialect", Dialect)
def test_a_recorded_call_goes_on_from_composed_messages(conversation, account, dialect, spoken):
    told = {"conversation_id": conversation.pk, "actor": CUSTOMER, "now": NOW}
    told["dialect"] = under = dialect if spoken else None
    append_message(message=drafted(TEXT, dialect=under), **told)
    looked = drafted(SaidBlock(PartType.TEXT, text="Let me look."), CALL, role=Role.ASSISTANT, dialect=under)
    append_message(message=looked, **told)
    answer_calls(message=drafted(RESULT, role=Role.TOOL, dialect=under), **told)

    recorded = record_exchange(
        account=account,
        request_body=json.dumps(REQUESTS[dialect]).encode(),
        response_body=None,
        dialect=dialect,
        actor=CUSTOMER,
        now=NOW,
    )

    assert recorded.conversation_id == conversation.pk
    assert (recorded.match, recorded.leaf_seq) == (HistoryMatch.CONTINUED, 3)
    assert Message.objects.count() == 3


@pytest.mark.parametrize("dialect", Dialect)
def test_typed_blocks_are_written_as_the_dialect_writes_them(dialect):
    draft = drafted(SaidBlock(PartType.TEXT, text="Let me look."), CALL, role=Role.ASSISTANT, dialect=dialect)
    assert [part.type for part in draft.parts] == [PartType.TEXT, PartType.TOOL_USE]
    assert (draft.parts[0].text, draft.parts[0].shell) == ("Let me look.", None)
    assert (draft.parts[1].tool_call_id, draft.parts[1].tool_name) == ("call_1", "get_order")


@pytest.mark.parametrize(
    ("dialect", "kind"),
    [
        (Dialect.ANTHROPIC_MESSAGES, {"type": "image", "source": {"type": "url", "url": "https://x/a.png"}}),
        (Dialect.OPENAI_CHAT, {"type": "image_url", "image_url": {"url": "https://x/a.png"}}),
        (Dialect.OPENAI_RESPONSES, {"type": "input_image", "image_url": "https://x/a.png"}),
    ],
)
def test_an_image_by_its_address(dialect, kind):
    [part] = drafted(SaidBlock(PartType.IMAGE, url="https://x/a.png"), dialect=dialect).parts
    assert part.type == PartType.IMAGE
    assert json.loads(part.payload) == kind


@pytest.mark.parametrize("dialect", Dialect)
def test_a_document_in_every_dialect(dialect):
    document = SaidBlock(PartType.DOCUMENT, data="aGk=", media_type="application/pdf")
    [part] = drafted(document, dialect=dialect).parts
    assert part.type == PartType.DOCUMENT
    assert "aGk=" in part.payload.decode()


@pytest.mark.parametrize("dialect", [Dialect.ANTHROPIC_MESSAGES, Dialect.OPENAI_RESPONSES])
def test_a_document_by_its_address(dialect):
    [part] = drafted(SaidBlock(PartType.DOCUMENT, url="https://x/a.pdf"), dialect=dialect).parts
    assert "https://x/a.pdf" in part.payload.decode()


@pytest.mark.parametrize(
    ("blocks", "dialect", "place"),
    [
        ([CALL, CALL], Dialect.ANTHROPIC_MESSAGES, "new message, block 1"),
        (
            [SaidBlock(literal='{"type":"tool_use","name":"x","input":{}}')],
            Dialect.ANTHROPIC_MESSAGES,
            "block 0",
        ),
        (
            [SaidBlock(PartType.TOOL_USE, call_id="a", name="x", arguments="{")],
            Dialect.OPENAI_CHAT,
            "block 0",
        ),
        ([SaidBlock(PartType.TOOL_USE, call_id="a", name="x", arguments="NaN")], None, "block 0"),
        ([SaidBlock(PartType.DOCUMENT, url="https://x/a.pdf")], Dialect.OPENAI_CHAT, "block 0"),
        ([TEXT, RESULT], Dialect.OPENAI_CHAT, "new message"),
        ([TEXT, RESULT], Dialect.OPENAI_RESPONSES, "new message"),
        ([SaidBlock(literal='{"type":"text","n":NaN}')], Dialect.ANTHROPIC_MESSAGES, "block 0"),
    ],
)
def test_blocks_that_make_no_single_message_are_refused(blocks, dialect, place):
    role = Role.ASSISTANT if blocks[0].type == PartType.TOOL_USE else Role.USER
    with pytest.raises(StoreError) as refused:
        drafted(*blocks, role=role, dialect=dialect)
    assert refused.value.rule == "blocks-unfit"
    assert place in refused.value.place


def test_results_of_one_go_are_one_message():
    draft = drafted(
        RESULT,
        SaidBlock(PartType.TOOL_RESULT, call_id="call_2", text="none"),
        role=Role.TOOL,
        dialect=Dialect.OPENAI_CHAT,
    )
    assert (draft.role, len(draft.parts), draft.shell) == (Role.TOOL, 2, None)


def test_a_message_in_no_dialect_keeps_its_role():
    draft = drafted(RESULT, role=Role.TOOL)
    assert (draft.role, draft.provider_role, draft.shell) == (Role.TOOL, "", None)


def test_a_message_written_for_another_dialect_is_refused():
    said = SaidMessage(Role.USER, [TEXT], dialect=Dialect.OPENAI_CHAT)
    with pytest.raises(StoreError) as refused:
        draft_message(said, dialect=Dialect.ANTHROPIC_MESSAGES)
    assert refused.value.rule == "dialect-differs"
