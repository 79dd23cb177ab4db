"""One effect as a made-up month tells it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(slots=True)
class Told:
    """One effect as the month tells it: what a plant needs to name it."""

    id: UUID
    charge: str
    amount: int
    currency: str
    at: datetime
    state: str = "pending"
    settled: int = 0
    back: int = 0
    moves: int = 1
    conversation_id: UUID | None = None
    seq: int = 0
