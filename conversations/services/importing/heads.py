"""Which message an import leaves as the head of a conversation."""

from collections.abc import Sequence, Set
from datetime import datetime

from conversations.drafts import ImportedConversation
from conversations.services.importing.known import Known


def choose_head(
    conversation: ImportedConversation,
    known: Known | None,
    *,
    stated: int | None,
    in_file: Set[int],
    parents: Sequence[int],
    seqs: Sequence[int],
) -> tuple[int | None, str]:
    """Give the head's number, and what is to be said where it is not the one that the file states.

    Messages are places in `parents` and `seqs`, parents first, -1 above the roots. The head follows
    the export, unless it was moved here or the export is older than what was imported before.
    """
    head_seq = None if stated is None else seqs[stated]
    if known is None or known.head_seq is None:
        return head_seq, ""
    if stated is None or head_seq == known.head_seq:
        return known.head_seq, ""
    if not known.is_head_imported:
        return known.head_seq, "the head was moved here since the first import; it stays where it is"
    if _is_older(conversation, known, stated, in_file, parents, seqs):
        return (
            known.head_seq,
            "this export is older than what was imported before; the head stays where it is",
        )
    return head_seq, ""


def _is_older(
    conversation: ImportedConversation,
    known: Known,
    stated: int,
    in_file: Set[int],
    parents: Sequence[int],
    seqs: Sequence[int],
) -> bool:
    """By the times that both tell; else, where what is shown here goes on from what the file shows."""
    told_until = _told_until(conversation)
    if told_until is not None and known.told_until is not None:
        return told_until < known.told_until
    shown = seqs.index(known.head_seq) if known.head_seq in seqs else -1
    if shown in in_file:
        return False
    while shown > stated:
        shown = parents[shown]
    return shown == stated


def _told_until(conversation: ImportedConversation) -> datetime | None:
    times = [node.message.occurred_at for node in conversation.nodes if node.message]
    return max((at for at in (conversation.updated_at, *times) if at is not None), default=None)
