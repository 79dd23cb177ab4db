"""What going on from a message would send, as a page: its size, what it would break, a command."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from console.hostile import text_of
from console.thread.curl import curl_command
from conversations.replay import next_body_at
from conversations.wire.shapes import Violation


@dataclass(frozen=True, slots=True)
class NextBodyPage:
    body: bytes
    dialect: str
    violations: Sequence[Violation]
    notes: Sequence[str]
    curl: str

    @property
    def size(self) -> int:
        return len(self.body)

    @property
    def shown(self) -> str:
        return text_of(self.body)


def read_next_body(*, conversation_id: UUID, seq: int) -> NextBodyPage:
    """Compose the body; raises ReplayError where bytes are gone or no model is known."""
    found = next_body_at(conversation_id=conversation_id, leaf_seq=seq)
    return NextBodyPage(
        body=found.body,
        dialect=found.dialect.label,
        violations=found.violations,
        notes=found.notes,
        curl=curl_command(dialect=found.dialect, file_name=f"next-{conversation_id.hex[-8:]}-{seq}.json"),
    )
