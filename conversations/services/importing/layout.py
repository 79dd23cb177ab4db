"""Where each message of an export stands among those that the store holds.

A message that has gained parts since it was imported, as the last answer of a session that was
imported while it ran, is gone on with: what it gained becomes a message of its own right below,
under the id of the first and the number of parts that it had. A message itself is written once.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from conversations.drafts import ImportedNode, MessageDraft, PartDraft
from conversations.imports.pairing import PairedMessage, resume
from conversations.imports.tree import PlannedTree
from conversations.imports.trouble import UnreadableError
from conversations.reads.path import StoredMessage
from conversations.services.importing.known import Known
from conversations.wire.literals import readable_copy

MAX_ID: Final = 255
MAX_PARTS: Final = 10_000


@dataclass(slots=True)
class Layout:
    """The stored messages and behind them the new ones, by place; parents come first."""

    messages: list[PairedMessage]
    seqs: list[int]
    added: list[tuple[int, ImportedNode, str | None]] = field(default_factory=list)
    place_of_node: dict[str, int] = field(default_factory=dict)
    # Stored messages that stand in the file.
    met: set[int] = field(default_factory=set)
    changed: int = 0


def lay_out(tree: PlannedTree, stored: Sequence[StoredMessage], known: Known | None) -> Layout:
    """Find each node of the tree among the stored messages, or give it the next number."""
    layout = Layout(messages=_as_paired(stored, known), seqs=[one.seq for one in stored])
    place_of_id = {one.draft.client_message_id: place for place, one in enumerate(stored)}
    place_of_seq = {one.seq: place for place, one in enumerate(stored)}
    next_seq = known.next_seq if known else 1
    for placed in tree.placed:
        node, message, facts = placed.node, placed.message, placed.node.stored
        parent = -1 if placed.parent_source_id is None else layout.place_of_node[placed.parent_source_id]
        while True:
            client_id = storable_id(node.source_id) if facts is None else message.client_message_id
            place = place_of_id.get(client_id) if facts is None else place_of_seq.get(facts.seq)
            if place is None:
                break
            layout.met.add(place)
            layout.place_of_node[placed.node.source_id] = place
            gained = _gained(stored[place], message) if facts is None else None
            if gained is None:
                layout.changed += _says_otherwise(stored[place], message)
                break
            count = len(stored[place].draft.parts)
            # The attempt that wrote it is the first piece's.
            node = replace(node, source_id=f"{node.source_id}+{count}", message=gained, model="")
            message, parent = gained, place
        if place is not None:
            continue
        if len(message.parts) > MAX_PARTS:
            raise UnreadableError(f"a message of more than {MAX_PARTS} parts", place=node.source_id)
        layout.place_of_node[placed.node.source_id] = len(layout.messages)
        layout.added.append((len(layout.messages), node, client_id))
        layout.messages.append(PairedMessage(message, parent))
        # A tree of another store keeps its numbers, gaps and all.
        next_seq = max(next_seq, facts.seq) if facts is not None else next_seq
        layout.seqs.append(next_seq)
        next_seq += 1
    return layout


def storable_id(source_id: str) -> str:
    """The source's id as the column holds it; long ones end in a digest."""
    readable = readable_copy(source_id)
    if len(readable) <= MAX_ID and readable == source_id:
        return readable
    digest = hashlib.sha256(source_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{readable[: MAX_ID - 65]}:{digest}"


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


def _gained(stored: StoredMessage, message: MessageDraft) -> MessageDraft | None:
    """What a message has gained behind what is stored of it; None where it gained nothing or says another."""
    before = stored.draft.parts
    if stored.lost_parts or stored.draft.role != message.role or len(before) >= len(message.parts):
        return None
    if [_told(part) for part in before] != [_told(part) for part in message.parts[: len(before)]]:
        return None
    return MessageDraft(
        role=message.role,
        parts=message.parts[len(before) :],
        provider_role=message.provider_role,
        occurred_at=message.occurred_at,
    )


def _told(part: PartDraft) -> tuple[str, str | None, str | None]:
    return part.type, part.text, part.tool_call_id
