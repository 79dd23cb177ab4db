"""What is about to be written: messages and parts that have no place in a tree yet.

Wire formats, importers and applications all produce these; the write path is
the only reader that turns them into rows. Nothing here touches the database.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from conversations.vocabulary import (
    BranchReason,
    CallStatus,
    Dialect,
    GenerationStatus,
    HeadMoveReason,
    PartBytes,
    PartStatus,
    PartType,
    Role,
)

# A message shell is the message's own JSON with its parts cut out. These marks
# stand where a part was; JSON text cannot hold them unescaped, so none is ever
# mistaken for content.
HOLE_BLOCK = "\x01"  # one part, rendered as a block
HOLE_STRING = "\x02"  # one text part, rendered as a bare JSON string
HOLE_BLOCKS = "\x03"  # all parts up to the next mark, joined by the style's comma


@dataclass(slots=True)
class PartDraft:
    """One part, as the block that crossed the wire.

    `text` is set where rendering it gives the block's bytes: inside `shell`, the
    block's JSON with the text cut out, or inside the dialect's usual text block
    where `shell` is None. Otherwise `payload` holds the bytes exactly, with a
    `cache_control` member cut out. Both are set only where no rendering gives
    the literal back or PostgreSQL cannot hold it (NUL, lone surrogates): then
    `is_text_copy` is true and `text` is a searchable copy, with marks.
    """

    type: PartType
    text: str | None = None
    payload: bytes | None = None
    shell: str | None = None
    is_text_copy: bool = False
    provider_type: str = ""
    tool_call_id: str | None = None
    tool_name: str | None = None
    status: PartStatus | None = None
    orphan: bool = False
    media_type: str = ""
    is_minted_id: bool = False

    @property
    def is_call(self) -> bool:
        """Whether it is a client's call that counts."""
        return self.type == PartType.TOOL_USE and not self.orphan


@dataclass(slots=True)
class MessageDraft:
    """One message: what a person or a model said in one go.

    `shell` is None where the dialect's usual form around the parts is right.
    `wire_index` is the place in the request's list, for error messages.
    """

    role: Role
    parts: list[PartDraft] = field(default_factory=list)
    provider_role: str = ""
    shell: str | None = None
    client_message_id: str | None = None
    token_count: int | None = None
    occurred_at: datetime | None = None
    is_hidden: bool = False
    wire_index: int | None = None

    def calls(self) -> Iterator[PartDraft]:
        return (part for part in self.parts if part.is_call)

    def results(self) -> Iterator[PartDraft]:
        return (part for part in self.parts if part.type == PartType.TOOL_RESULT and not part.orphan)


@dataclass(slots=True)
class StoredFacts:
    """What another store knew of a message beyond its draft; importing its own export keeps it all.

    `lost` says by ordinal what became of parts without bytes. `calls` are
    (status, error code, duration in ms) by call id.
    """

    seq: int
    branch_reason: BranchReason
    dialect: Dialect | None = None
    lost: dict[int, PartBytes] = field(default_factory=dict)
    calls: dict[str, tuple[CallStatus, str, int | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredHeadMove:
    """A line of another store's head log."""

    head_seq: int
    moved_at: datetime
    moved_by_kind: str
    moved_by_id: str
    reason: HeadMoveReason


@dataclass(slots=True)
class ImportedNode:
    """A message of an export, hung by the source's own ids; order in the file means nothing.

    `trouble` says in a few words what was wrong with a node that could not be
    read as a message; then `message` is None and `raw` is put in quarantine.
    Without a message and without trouble it is no message at all, and its
    children are joined to its parent. `position` is the place among siblings
    that the source itself gives, where it gives one. `ending` is how the answer
    came to its end, as far as the source tells.
    """

    source_id: str
    parent_source_id: str | None
    message: MessageDraft | None
    raw: bytes | None = None
    trouble: str = ""
    model: str = ""
    ending: GenerationStatus = GenerationStatus.COMPLETE
    is_hidden: bool = False
    position: int | None = None
    stored: StoredFacts | None = None


@dataclass(slots=True)
class ImportedConversation:
    """One conversation of an export file, whole in memory, hung by source ids.

    `external_ref` is the source's stable key; a second import finds by it what
    is there already. `head_source_id` None means: the last leaf in file order.
    `notes` are said to the operator and kept with the import's report.
    `dialect` is None where the source's blocks are those of no provider's API.
    `raw` is the record as it stood in the file. `updated_at` is when the source
    says that it was last changed: of two exports it tells the later one.
    """

    external_ref: str
    nodes: Sequence[ImportedNode]
    head_source_id: str | None = None
    title: str = ""
    started_at: datetime | None = None
    model: str = ""
    place: str = ""
    parent_call_id: str = ""
    account_external_id: str = ""
    dialect: Dialect | None = None
    raw: bytes | None = None
    notes: list[str] = field(default_factory=list)
    head_moves: Sequence[StoredHeadMove] = ()
    updated_at: datetime | None = None
