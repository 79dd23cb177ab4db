"""The sample company's conversations as a reader of them sees them."""

from conversations.models import Conversation, Generation, MessagePart, ToolCall
from conversations.reads.path import path_seqs
from samples.company.load import Loaded


def conversation(company: Loaded, key: str) -> Conversation:
    return Conversation.objects.get(pk=company.conversations[key])


def live_seqs(found: Conversation) -> list[int]:
    assert found.head_seq is not None
    return path_seqs(conversation_id=found.pk, leaf_seq=found.head_seq)


def live_texts(found: Conversation) -> list[str]:
    seqs = live_seqs(found)
    parts = MessagePart.objects.filter(conversation=found, seq__in=seqs).order_by("seq", "ordinal")
    return [part.text for part in parts if part.text]


def attempts(found: Conversation) -> list[Generation]:
    return list(Generation.objects.filter(conversation=found).order_by("number"))


def call_ids(found: Conversation, name: str) -> list[str]:
    calls = ToolCall.objects.filter(conversation=found, name=name).order_by("seq")
    return list(calls.values_list("call_id", flat=True))
