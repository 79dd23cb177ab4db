"""One read conversation, beside what the store holds of it, as what is to be written.

Pure: nothing here touches the database.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from conversations.drafts import ImportedConversation, ImportedNode, MessageDraft
from conversations.imports.pairing import PairedMessage, pair, resume
from conversations.imports.tree import PlannedTree, plan_tree
from conversations.imports.trouble import UnreadableError
from conversations.reads.path import StoredMessage
from conversations.services.importing.heads import choose_head
from conversations.services.importing.known import Known
from conversations.services.importing.path_digests import digests_of
from conversations.vocabulary import CallStatus, ReplayObstacle, Role
from conversations.wire.literals import readable_copy

MAX_ID: Final = 255
MAX_PARTS: Final = 10_000


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


@dataclass(slots=True)
class _Layout:
    """The stored messages and behind them the new ones, by place; parents come first."""

    messages: list[PairedMessage]
    seqs: list[int]
    added: list[tuple[int, ImportedNode, str | None]] = field(default_factory=list)
    place_of_node: dict[str, int] = field(default_factory=dict)
    changed: int = 0


def plan(conversation: ImportedConversation, *, account_id: UUID, known: Known | None) -> Plan:
    """Plan what to write; raises UnreadableError where the conversation cannot be held at all."""
    tree = plan_tree(conversation.nodes, conversation.head_source_id)
    stored = list(known.messages) if known else []
    layout = _lay_out(tree, stored, known)
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
    _note_absent(result, layout.place_of_node, stored)
    result.head_seq, remark = choose_head(
        conversation,
        known,
        stated=None if tree.head_source_id is None else layout.place_of_node[tree.head_source_id],
        in_file=frozenset(layout.place_of_node.values()),
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


def _lay_out(tree: PlannedTree, stored: Sequence[StoredMessage], known: Known | None) -> _Layout:
    """Find each node of the tree among the stored messages, or give it the next number."""
    layout = _Layout(messages=_as_paired(stored, known), seqs=[one.seq for one in stored])
    place_of_id = {one.draft.client_message_id: place for place, one in enumerate(stored)}
    place_of_seq = {one.seq: place for place, one in enumerate(stored)}
    next_seq = known.next_seq if known else 1
    for placed in tree.placed:
        source_id, facts = placed.node.source_id, placed.node.stored
        client_id = storable_id(source_id) if facts is None else placed.message.client_message_id
        place = place_of_id.get(client_id) if facts is None else place_of_seq.get(facts.seq)
        if place is not None:
            layout.place_of_node[source_id] = place
            layout.changed += _says_otherwise(stored[place], placed.message)
            continue
        if len(placed.message.parts) > MAX_PARTS:
            raise UnreadableError(f"a message of more than {MAX_PARTS} parts", place=source_id)
        parent = -1 if placed.parent_source_id is None else layout.place_of_node[placed.parent_source_id]
        layout.place_of_node[source_id] = len(layout.messages)
        layout.added.append((len(layout.messages), placed.node, client_id))
        layout.messages.append(PairedMessage(placed.message, parent))
        # A tree of another store keeps its numbers, gaps and all.
        next_seq = max(next_seq, facts.seq) if facts is not None else next_seq
        layout.seqs.append(next_seq)
        next_seq += 1
    return layout


def _restore_calls(
    messages: Sequence[PairedMessage], added: Sequence[tuple[int, ImportedNode, str | None]]
) -> None:
    """What another store knew of a call's life counts more than what the results tell."""
    for place, node, _ in added:
        if node.stored is not None:
            messages[place].call_statuses = {call_id: life[0] for call_id, life in node.stored.calls.items()}


def storable_id(source_id: str) -> str:
    """The source's id as the column holds it; long ones end in a digest."""
    readable = readable_copy(source_id)
    if len(readable) <= MAX_ID and readable == source_id:
        return readable
    digest = hashlib.sha256(source_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{readable[: MAX_ID - 65]}:{digest}"


def original_digest(raw: bytes) -> bytes:
    return hashlib.sha256(raw).digest()


def _as_paired(stored: Sequence[StoredMessage], known: Known | None) -> list[PairedMessage]:
    """Stored messages as the pairing sees them. Parents come first, so their places are known."""
    places: dict[int | None, int] = {one.seq: place for place, one in enumerate(stored)}
    messages = [
        PairedMessage(one.draft, places.get(one.parent_seq, -1), places.get(one.answers_seq, -1))
        for one in stored
    ]
    if known is not None:
        for one, message in zip(stored, messages, strict=True):
            message.call_statuses = dict(known.call_statuses.get(one.seq, {}))
    resume(messages)
    return messages


def _says_otherwise(stored: StoredMessage, message: MessageDraft) -> bool:
    if stored.draft.role != message.role:
        return True
    before, now = stored.draft.parts, message.parts
    return not stored.lost_parts and [part.text for part in before] != [part.text for part in now]


def _new_messages(layout: _Layout, digests: Sequence[bytes | None], next_generation: int) -> list[NewMessage]:
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


def _note_absent(result: Plan, place_of_node: dict[str, int], stored: Sequence[StoredMessage]) -> None:
    """A branch that the customer removed at the source stays; the report says that it is gone there."""
    still_there = set(place_of_node.values())
    absent = [
        one.draft.client_message_id
        for place, one in enumerate(stored)
        if one.draft.client_message_id is not None and place not in still_there
    ]
    if absent:
        named = ", ".join(absent[:3]) + (", ..." if len(absent) > 3 else "")
        result.differences.append(f"{len(absent)} messages are no longer in this export ({named}); kept")
