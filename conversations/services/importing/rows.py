"""The rows of a batch, table by table, and their COPY.

Text columns are checked by the readers (no NUL, no lone surrogates); here the
lengths of columns are kept.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

import zstandard
from psycopg.types.json import Jsonb

from access.actors import Actor
from conversations.arguments import derived_arguments
from conversations.drafts import ImportedConversation, ImportedNode, PartDraft
from conversations.ids import mint_id
from conversations.services.blobs import keep_large_payload
from conversations.services.importing.planning import NewMessage, Plan
from conversations.services.importing.tables import (
    CALLS,
    CONVERSATIONS,
    GENERATIONS,
    HEAD_MOVES,
    MESSAGES,
    PARTS,
    RAW_BODIES,
    TABLES,
    Row,
    copy_rows,
)
from conversations.vocabulary import (
    BranchReason,
    CallStatus,
    HeadMoveReason,
    PartBytes,
    PartType,
    RawClass,
    Source,
)
from conversations.wire.literals import readable_copy

_COMPRESSION: Final = 1  # the CPU is what bounds an import; 3 saves a fiftieth of the bytes
# Whose models an export speaks of; elsewhere the export's own name stands for its provider.
PROVIDERS: Final = {"chatgpt": "openai", "claude.ai": "anthropic", "claude-code": "anthropic"}


@dataclass(slots=True)
class RowBatch:
    """Rows of several conversations, to be written in one go."""

    account_id: UUID
    actor: Actor
    now: datetime
    keep_originals: bool
    rows: dict[str, list[Row]] = field(default_factory=lambda: {table.name: [] for table in TABLES})
    updates: list[tuple[UUID, Plan]] = field(default_factory=list)
    compressor: zstandard.ZstdCompressor = field(
        default_factory=lambda: zstandard.ZstdCompressor(level=_COMPRESSION)
    )

    def add(self, plan: Plan) -> UUID:
        """Lay out one conversation's rows; return its id."""
        source = plan.conversation
        if plan.known is None:
            started = source.started_at or _earliest(plan)
            conversation_id = mint_id(started or self.now)
            self.rows[CONVERSATIONS.name].append(self._conversation(conversation_id, plan, started))
        else:
            conversation_id = plan.known.conversation_id
            self.updates.append((conversation_id, plan))
        for new in plan.new:
            self._add_message(conversation_id, new, source)
        if plan.known is None and source.head_moves and plan.head_seq is not None:
            self._add_stored_log(conversation_id, source)
        elif plan.moves_head:
            self._add_head_move(conversation_id, plan)
        for node in plan.quarantined:
            self._add_raw(conversation_id, RawClass.QUARANTINE, node.raw or b"", source.place, node)
        self._add_original(conversation_id, plan)
        return conversation_id

    def last_activity(self, plan: Plan) -> datetime:
        """The latest time that the source tells, never later than now; an unknown one is now."""
        return min(plan.last_activity_at or self.now, self.now)

    def _conversation(self, conversation_id: UUID, plan: Plan, started: datetime | None) -> Row:
        source = plan.conversation
        has_head = plan.head_seq is not None
        return (
            conversation_id,
            self.account_id,
            source.title,
            Source.IMPORTED.value,
            source.external_ref,
            source.parent_call_id,
            plan.head_seq,
            max(len(source.head_moves), 1) if has_head else None,
            plan.next_seq,
            plan.next_generation,
            plan.has_fork,
            str(plan.obstacle),
            source.started_at,
            self.now,
            self.last_activity(plan),
        )

    def _add_message(self, conversation_id: UUID, new: NewMessage, source: ImportedConversation) -> None:
        dialect = source.dialect.value if source.dialect else ""
        if new.generation_number is not None:
            self._add_generation(conversation_id, new, source, new.generation_number)
        message = new.paired.message
        facts = new.node.stored
        reason = BranchReason.CONTINUE if new.is_first_child else BranchReason.IMPORT
        if facts is not None:
            reason, dialect = facts.branch_reason, facts.dialect.value if facts.dialect else ""
        self.rows[MESSAGES.name].append(
            (
                conversation_id,
                new.seq,
                new.parent_seq,
                new.answers_seq,
                message.role.value,
                message.provider_role[:64],
                dialect,
                message.shell,
                new.digest,
                reason.value,
                new.node.is_hidden or message.is_hidden,
                new.client_message_id,
                message.token_count,
                message.occurred_at,
                self.now,
            )
        )
        parts = self.rows[PARTS.name]
        for ordinal, part in enumerate(message.parts):
            parts.append(self._part(conversation_id, new, ordinal, part))
            if part.is_call:
                self._add_call(conversation_id, new, ordinal, part)

    def _add_generation(
        self, conversation_id: UUID, new: NewMessage, source: ImportedConversation, number: int
    ) -> None:
        """The attempt that an imported answer came from: its model is known, its tokens and cost are not."""
        answered_at = new.paired.message.occurred_at or self.now
        model = readable_copy(new.node.model)[:255]
        origin = source.external_ref.partition(":")[0]
        self.rows[GENERATIONS.name].append(
            (
                conversation_id,
                number,
                f"import-{new.seq}",
                1,
                PROVIDERS.get(origin, origin)[:32],
                source.dialect.value if source.dialect else "",
                model,
                model,
                new.parent_seq,
                new.seq,
                new.node.ending.value,
                _as_jsonb("[]"),
                answered_at,
                answered_at,
            )
        )

    def _part(self, conversation_id: UUID, new: NewMessage, ordinal: int, part: PartDraft) -> Row:
        blob_id = keep_large_payload(part)
        lost = new.node.stored.lost if new.node.stored else {}
        answers = new.answers_seq if part.type == PartType.TOOL_RESULT and not part.orphan else None
        return (
            conversation_id,
            new.seq,
            ordinal,
            part.type.value,
            part.provider_type[:64],
            part.text,
            None if blob_id is not None else part.payload,
            part.shell,
            part.is_text_copy,
            (lost.get(ordinal) or PartBytes.PRESENT).value,
            part.media_type[:127],
            blob_id,
            part.tool_call_id,
            part.tool_name,
            part.is_minted_id,
            answers,
            part.status.value if part.status else None,
            part.orphan,
        )

    def _add_call(self, conversation_id: UUID, new: NewMessage, ordinal: int, part: PartDraft) -> None:
        call_id = part.tool_call_id or ""
        status = new.paired.call_statuses.get(call_id, CallStatus.REQUESTED)
        stored = new.node.stored.calls.get(call_id) if new.node.stored else None
        error_code, duration_ms = (stored[1], stored[2]) if stored else ("", None)
        self.rows[CALLS.name].append(
            (
                conversation_id,
                new.seq,
                ordinal,
                part.tool_call_id,
                part.tool_name,
                status.value,
                _as_jsonb(derived_arguments(part)),
                error_code,
                duration_ms,
                new.paired.message.occurred_at or self.now,
                new.generation_number,
            )
        )

    def _add_stored_log(self, conversation_id: UUID, source: ImportedConversation) -> None:
        self.rows[HEAD_MOVES.name] += [
            (
                conversation_id,
                number,
                move.head_seq,
                move.moved_at,
                move.moved_by_kind,
                move.moved_by_id[:64],
                move.reason.value,
            )
            for number, move in enumerate(source.head_moves, start=1)
        ]

    def _add_head_move(self, conversation_id: UUID, plan: Plan) -> None:
        number = plan.known.head_move + 1 if plan.known else 1
        reason = HeadMoveReason.IMPORT_REPAIR if plan.tree.is_head_repaired else HeadMoveReason.IMPORT
        self.rows[HEAD_MOVES.name].append(
            (
                conversation_id,
                number,
                plan.head_seq,
                # An export says what is shown now; what was shown before is not known.
                self.now,
                self.actor.kind.value,
                self.actor.id,
                reason.value,
            )
        )

    def _add_original(self, conversation_id: UUID, plan: Plan) -> None:
        raw = plan.conversation.raw
        if not self.keep_originals or not raw:
            return
        if plan.known is None or hashlib.sha256(raw).digest() not in plan.known.originals:
            self._add_raw(conversation_id, RawClass.IMPORT, raw, plan.conversation.place, None)

    def _add_raw(
        self, conversation_id: UUID, raw_class: RawClass, raw: bytes, place: str, node: ImportedNode | None
    ) -> None:
        where = f"{place}, node {node.source_id}" if node else place
        self.rows[RAW_BODIES.name].append(
            (
                mint_id(self.now),
                raw_class.value,
                conversation_id,
                self.account_id,
                hashlib.sha256(raw).digest(),
                len(raw),
                self.compressor.compress(raw),
                readable_copy(where)[:255],
                readable_copy(node.trouble)[:255] if node else "",
                self.now,
            )
        )

    def copy(self) -> None:
        """Write the rows, each table in one COPY."""
        for table in TABLES:
            copy_rows(table, self.rows[table.name])


def _as_jsonb(text: str | None) -> Jsonb | None:
    return None if text is None else Jsonb(text, dumps=str)


def _earliest(plan: Plan) -> datetime | None:
    return min((at for at in _times(plan)), default=None)


def _times(plan: Plan) -> Iterator[datetime]:
    return (new.paired.message.occurred_at for new in plan.new if new.paired.message.occurred_at)
