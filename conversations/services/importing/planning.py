"""One read conversation, beside what the store holds of it, as what is to be written.

Pure: nothing here touches the database.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from conversations.drafts import ImportedConversation, ImportedNode
from conversations.imports.pairing import PairedMessage, pair
from conversations.imports.tree import PlannedTree, plan_tree
from conversations.reads.path import StoredMessage
from conversations.services.importing.heads import choose_head
from conversations.services.importing.known import Known
from conversations.services.importing.layout import Layout, lay_out
from conversations.services.importing.path_digests import digests_of
from conversations.vocabulary import CallStatus, ReplayObstacle, Role


@dataclass(slots=True)
class NewMessage:
    """A message to be written, with its numbers."""

    seq: int
    node: ImportedNode
    paired: PairedMessage
    parent_seq: int | None
    answers_seq: int | None
    client_message_id: str | None
    is_first_child: bool
    digest: bytes | None
    generation_number: int | None = None


@dataclass(slots=True)
class Plan:
    """All that is to be written for one conversation."""

    conversation: ImportedConversation
    tree: PlannedTree
    known: Known | None
    new: list[NewMessage]
    settled_calls: dict[tuple[int, str], CallStatus]
    head_seq: int | None
    has_fork: bool
    obstacle: str
    quarantined: list[ImportedNode]
    remarks: list[str] = field(default_factory=list)
    # What the file says otherwise than the store: true, and said, each time it is imported.
    differences: list[str] = field(default_factory=list)
    # When there is no telling from the source, the import's own moment.
    last_activity_at: datetime | None = None

    @property
    def next_seq(self) -> int:
        before = self.known.next_seq if self.known else 1
        return max([before, *(new.seq + 1 for new in self.new)])

    @property
    def next_generation(self) -> int:
        before = self.known.next_generation if self.known else 1
        return max([before, *(new.generation_number + 1 for new in self.new if new.generation_number)])

    @property
    def moves_head(self) -> bool:
        return self.head_seq is not None and (self.known is None or self.known.head_seq != self.head_seq)

    @property
    def adds_nothing(self) -> bool:
        is_settled = not self.new and not self.settled_calls and not self.quarantined
        return self.known is not None and is_settled and not self.moves_head


def plan(conversation: ImportedConversation, *, account_id: UUID, known: Known | None) -> Plan:
    """Plan what to write; raises UnreadableError where the conversation cannot be held at all."""
    tree = plan_tree(conversation.nodes, conversation.head_source_id)
    stored = list(known.messages) if known else []
    layout = lay_out(tree, stored, known)
    messages, seqs = layout.messages, layout.seqs
    before = [dict(message.call_statuses) for message in messages[: len(stored)]]
    findings: list[str] = []
    pair(messages, findings, since=len(stored))
    _restore_calls(messages, layout.added)
    is_whole = not any(node.stored and node.stored.lost for node in conversation.nodes)
    has_digests = conversation.dialect is not None and is_whole
    conversation_id = known.conversation_id if known else None
    digests: Sequence[bytes | None] = (
        digests_of(messages, stored, account_id=account_id, conversation_id=conversation_id)
        if has_digests
        else [None] * len(messages)
    )
    quarantined = _not_yet_quarantined(tree, known)
    result = Plan(
        conversation=conversation,
        tree=tree,
        known=known,
        new=_new_messages(layout, digests, known.next_generation if known else 1),
        settled_calls={
            (seqs[place], call_id): status
            for place, statuses in enumerate(before)
            for call_id, status in messages[place].call_statuses.items()
            if statuses.get(call_id) != status
        },
        head_seq=None,
        has_fork=any(count > 1 for count in Counter(message.parent for message in messages).values()),
        obstacle=_obstacle(conversation, tree, messages),
        quarantined=quarantined,
        remarks=[*conversation.notes, *tree.findings, *_named(quarantined), *findings],
        last_activity_at=_last_activity(conversation, messages),
    )
    if layout.changed:
        result.differences.append(f"{layout.changed} messages say something else now; kept as first imported")
    _note_absent(result, layout.met, stored)
    result.head_seq, remark = choose_head(
        conversation,
        known,
        stated=None if tree.head_source_id is None else layout.place_of_node[tree.head_source_id],
        in_file=layout.met,
        parents=[message.parent for message in messages],
        seqs=seqs,
    )
    if remark:
        result.differences.append(remark)
    return result


def _last_activity(conversation: ImportedConversation, messages: Sequence[PairedMessage]) -> datetime | None:
    """The latest time that is told; where no message tells one, none: nothing is purged by a guess."""
    times = [message.message.occurred_at for message in messages if message.message.occurred_at]
    return max([*times, conversation.updated_at or times[0]]) if times else None


def _restore_calls(
    messages: Sequence[PairedMessage], added: Sequence[tuple[int, ImportedNode, str | None]]
) -> None:
    """What another store knew of a call's life counts more than what the results tell."""
    for place, node, _ in added:
        if node.stored is not None:
            messages[place].call_statuses = {call_id: life[0] for call_id, life in node.stored.calls.items()}


def original_digest(raw: bytes) -> bytes:
    return hashlib.sha256(raw).digest()


def _new_messages(layout: Layout, digests: Sequence[bytes | None], next_generation: int) -> list[NewMessage]:
    messages, seqs, added = layout.messages, layout.seqs, layout.added
    seen = {message.parent for message in messages[: len(messages) - len(added)]}
    new = []
    for place, node, client_id in added:
        message = messages[place]
        new.append(
            NewMessage(
                seq=seqs[place],
                node=node,
                paired=message,
                parent_seq=seqs[message.parent] if message.parent >= 0 else None,
                answers_seq=seqs[message.answers] if message.answers >= 0 else None,
                client_message_id=client_id,
                is_first_child=message.parent not in seen,
                digest=digests[place],
            )
        )
        if node.model and message.message.role == Role.ASSISTANT:
            new[-1].generation_number = next_generation
            next_generation += 1
        seen.add(message.parent)
    return new


def _obstacle(
    conversation: ImportedConversation, tree: PlannedTree, messages: Sequence[PairedMessage]
) -> str:
    if conversation.dialect is None:
        return ReplayObstacle.FOREIGN_FORMAT
    is_broken = any(
        any(part.orphan for part in message.message.parts)
        or CallStatus.UNANSWERED in message.call_statuses.values()
        for message in messages
    )
    return ReplayObstacle.RECEIVED_BROKEN if is_broken or tree.quarantined else ""


def _not_yet_quarantined(tree: PlannedTree, known: Known | None) -> list[ImportedNode]:
    there = known.quarantined if known else frozenset()
    return [node for node in tree.quarantined if original_digest(node.raw or b"") not in there]


def _named(quarantined: Sequence[ImportedNode]) -> list[str]:
    return [f"node {node.source_id} is kept in quarantine: {node.trouble}" for node in quarantined]


def _note_absent(result: Plan, still_there: Set[int], stored: Sequence[StoredMessage]) -> None:
    """A branch that the customer removed at the source stays; the report says that it is gone there."""
    absent = [
        one.draft.client_message_id
        for place, one in enumerate(stored)
        if one.draft.client_message_id is not None and place not in still_there
    ]
    if absent:
        named = ", ".join(absent[:3]) + (", ..." if len(absent) > 3 else "")
        result.differences.append(f"{len(absent)} messages are no longer in this export ({named}); kept")
