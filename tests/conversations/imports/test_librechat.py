from datetime import UTC, datetime

from conversations.vocabulary import GenerationStatus, PartType, Role
from tests.conversations.imports.reading import paired, parents, read_file, read_one, texts, write
from tests.conversations.imports.reading import said as words

ROOT = "00000000-0000-0000-0000-000000000000"


def said(message_id: str, *, user: bool, parent: str | None = None, **fields: object) -> dict[str, object]:
    return {
        "messageId": message_id,
        "isCreatedByUser": user,
        "parentMessageId": parent,
        "sender": "Assistant" if user else "user",
        "text": message_id,
        **fields,
    }


def export(messages: list[object], **fields: object) -> dict[str, object]:
    return {"conversationId": "l-1", "title": "T", "endpoint": "openAI", "messages": messages, **fields}


def test_who_speaks_is_told_by_the_flag_and_never_by_the_label(tmp_path):
    conversation = read_one(
        tmp_path,
        export(
            [
                said("q", user=True, parent=ROOT, createdAt="2024-05-01T16:35:11.530Z"),
                said("a", user=False, parent="q"),
            ]
        ),
    )

    assert [words(node).role for node in conversation.nodes] == [Role.USER, Role.ASSISTANT]
    assert parents(conversation) == {"q": None, "a": "q"}
    assert conversation.started_at == datetime(2024, 5, 1, 16, 35, 11, 530_000, tzinfo=UTC)


def test_nested_children_make_the_same_tree(tmp_path):
    nested = said("q", user=True, parent=ROOT)
    nested["children"] = [said("a", user=False, parent="q"), said("b", user=False, parent="q")]

    assert parents(read_one(tmp_path, export([nested], recursive=True))) == {"q": None, "a": "q", "b": "q"}


def test_a_thread_nested_deeper_than_the_interpreters_stack_is_read(tmp_path):
    opening = "".join(
        f'{{"messageId":"m{n}","isCreatedByUser":true,"text":"{n}","children":[' for n in range(5_000)
    )
    text = '{"conversationId":"deep","messages":[' + opening + "]}" * 5_000 + "]}"

    conversation = read_one(tmp_path, text)

    assert len(conversation.nodes) == 5_000
    assert parents(conversation)["m4999"] == "m4998"


def test_a_tool_call_block_holds_the_call_and_its_output(tmp_path):
    block = {"type": "tool_call", "tool_call": {"id": "call_7", "name": "roll", "args": "{}", "output": "6"}}
    answer = said("a", user=False, parent="q", content=[block, {"type": "text", "text": "A six."}], text="")

    conversation = read_one(tmp_path, export([said("q", user=True), answer]))
    messages, findings = paired(conversation)

    assert parents(conversation) == {"q": None, "a/1": "q", "a/2": "a/1", "a": "a/2"}
    assert messages["a/1"].message.parts[0].tool_name == "roll"
    assert messages["a/2"].message.parts[0].type == PartType.TOOL_RESULT
    assert messages["a/2"].message.parts[0].text == "6"
    assert texts(conversation)[-1] == ["A six."]
    assert findings == []


def test_conversations_without_an_id_are_two(tmp_path):
    both = [
        export([said("1", user=True, text=words)], conversationId=None) for words in ("A room?", "A table?")
    ]

    first, second = read_file(write(tmp_path, both)).conversations

    assert first.external_ref != second.external_ref


def test_how_an_answer_ended_is_told_by_its_marks(tmp_path):
    marks = {
        "whole": {"finish_reason": "stop"},
        "long": {"finish_reason": "length", "unfinished": True},
        "stopped": {"unfinished": True},
        "failed": {"error": True},
    }
    answers = [said(name, user=False, parent="q", **fields) for name, fields in marks.items()]

    conversation = read_one(tmp_path, export([said("q", user=True, parent=ROOT), *answers]))

    assert {node.source_id: node.ending for node in conversation.nodes[1:]} == {
        "whole": GenerationStatus.COMPLETE,
        "long": GenerationStatus.TRUNCATED,
        "stopped": GenerationStatus.INTERRUPTED,
        "failed": GenerationStatus.FAILED,
    }


def test_a_tree_that_is_null_beside_the_list_is_no_hindrance(tmp_path):
    conversation = read_one(tmp_path, export([said("q", user=True, parent=ROOT)], messagesTree=None))

    assert parents(conversation) == {"q": None}
