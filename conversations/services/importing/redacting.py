"""Imported conversations, cut before they are planned: nothing is digested or compared before."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from conversations.drafts import ImportedConversation, ImportedNode
from conversations.models import RedactionSpan
from conversations.redaction.cutting import cut_body, cut_text
from conversations.redaction.drafts import cut_draft, spans_of
from conversations.services.importing.planning import Plan
from conversations.vocabulary import BodySide, SecretKind


def cut_imported(
    conversations: Sequence[ImportedConversation], *, kinds: frozenset[SecretKind]
) -> list[ImportedConversation]:
    """Return the conversations without these secrets, the original record and what is no message included."""
    return [_cut(one, kinds) for one in conversations] if kinds else list(conversations)


def cuts_of(plan: Plan, conversation_id: UUID, *, now: datetime) -> Iterator[RedactionSpan]:
    """Give kind and place of each mark that stands in the messages that a cut import adds."""
    for new in plan.new:
        for ordinal, part in enumerate(new.paired.message.parts):
            for span in spans_of(part):
                yield RedactionSpan(
                    conversation_id=conversation_id,
                    side=BodySide.PART,
                    seq=new.seq,
                    ordinal=ordinal,
                    kind=span.kind,
                    start=span.start,
                    end=span.end,
                    cut_at=now,
                )


def _cut(conversation: ImportedConversation, kinds: frozenset[SecretKind]) -> ImportedConversation:
    raw = conversation.raw
    return replace(
        conversation,
        nodes=[_cut_node(node, kinds) for node in conversation.nodes],
        title=cut_text(conversation.title, kinds=kinds).text,
        raw=None if raw is None else cut_body(raw, kinds=kinds).body,
    )


def _cut_node(node: ImportedNode, kinds: frozenset[SecretKind]) -> ImportedNode:
    message = None if node.message is None else cut_draft(node.message, kinds=kinds).message
    raw = None if node.raw is None else cut_body(node.raw, kinds=kinds).body
    if message is node.message and raw == node.raw:
        return node
    return replace(node, message=message, raw=raw)
