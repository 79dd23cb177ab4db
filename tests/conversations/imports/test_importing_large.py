"""Long, broad and heavy conversations."""

import pytest

from conversations.models import Conversation, Message, MessagePart
from tests.conversations.imports.reading import lines


def test_a_payload_too_large_for_a_row_lies_in_blob_storage(imported):
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 50_000}}
    imported(lines({"messages": [{"role": "user", "content": [image]}]}), "train.jsonl")

    part = MessagePart.objects.get()
    assert part.payload is None
    assert part.blob is not None
    assert part.blob.size > 50_000


@pytest.mark.parametrize("size", [5_000])
def test_a_line_of_five_thousand_messages_goes_in(imported, size):
    dialogue = [{"role": "assistant" if n % 2 else "user", "content": f"message {n}"} for n in range(size)]

    report = imported(lines({"id": "long", "messages": dialogue}), "long.jsonl")

    assert report.counts["messages"] == size
    assert Conversation.objects.get().head_seq == size
    assert Message.objects.get(seq=size).parent_seq == size - 1


def test_three_hundred_siblings_go_in(imported):
    replies = [{"message_id": f"a{n:03}", "role": "assistant", "text": str(n), "rank": n} for n in range(300)]
    prompt = {"message_id": "p", "role": "prompter", "text": "?", "replies": replies}

    imported(lines({"message_tree_id": "t", "prompt": prompt}), "trees.jsonl")

    assert Message.objects.filter(parent_seq=1).count() == 300
    assert Conversation.objects.get().head_seq == 2
