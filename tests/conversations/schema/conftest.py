"""A small tree in raw rows: two calls answered in two messages, a second branch, a logged head."""

from uuid import UUID

import pytest
from django.db import transaction

from conversations.models import Conversation
from tests.conversations.schema.rows import execute, insert


@pytest.fixture
def empty(conversation: Conversation) -> UUID:
    return conversation.pk


@pytest.fixture
def tree(empty: UUID) -> UUID:
    """Message 1 is asked; 2 makes two calls, 3 and 4 answer one each, 5 goes on; 6 is another answer to 1."""
    rows = [
        (1, None, None, "user"),
        (2, 1, None, "assistant"),
        (3, 2, 2, "tool"),
        (4, 3, 2, "tool"),
        (5, 4, None, "assistant"),
        (6, 1, None, "assistant"),
    ]
    with transaction.atomic():
        for seq, parent, answers, role in rows:
            insert(
                "message", conversation_id=empty, seq=seq, parent_seq=parent, answers_seq=answers, role=role
            )
        for ordinal, call_id in enumerate(("call_0", "call_1")):
            add_call(empty, seq=2, ordinal=ordinal, call_id=call_id)
            add_result(empty, seq=3 + ordinal, answers=2, call_id=call_id)
        add_text(empty, seq=5)
        move_head(empty, number=1, seq=5)
    return empty


def add_text(conversation: UUID, *, seq: int, ordinal: int = 0, text: str = "On its way.") -> None:
    insert("messagepart", conversation_id=conversation, seq=seq, ordinal=ordinal, type="text", text=text)


def add_call(conversation: UUID, *, seq: int, ordinal: int, call_id: str, status: str = "requested") -> None:
    """A call: its part, and the row of its life."""
    insert(
        "messagepart",
        conversation_id=conversation,
        seq=seq,
        ordinal=ordinal,
        type="tool_use",
        tool_call_id=call_id,
        tool_name="get_order",
        payload=b"{}",
    )
    insert(
        "toolcall",
        conversation_id=conversation,
        seq=seq,
        ordinal=ordinal,
        call_id=call_id,
        status=status,
    )


def add_result(conversation: UUID, *, seq: int, answers: int, call_id: str, ordinal: int = 0) -> None:
    insert(
        "messagepart",
        conversation_id=conversation,
        seq=seq,
        ordinal=ordinal,
        type="tool_result",
        answers_seq=answers,
        tool_call_id=call_id,
        payload=b"{}",
        status="ok",
    )


def move_head(conversation: UUID, *, number: int, seq: int) -> None:
    insert("headmove", conversation_id=conversation, number=number, head_seq=seq)
    execute(
        "UPDATE conversations_conversation SET head_seq = %s, head_move = %s WHERE id = %s",
        seq,
        number,
        conversation,
    )
