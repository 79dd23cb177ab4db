"""UUIDv7 for rows whose place in time matters, from any moment we name.

Conversation ids carry the conversation's own start, so that a range of ids is
a range of start times, also for what was imported years later.
"""

import secrets
from datetime import UTC, datetime
from uuid import UUID

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def mint_id(at: datetime) -> UUID:
    """A new UUIDv7 (RFC 9562, section 5.7) for the moment `at`, to the millisecond."""
    milliseconds = int((at - _EPOCH).total_seconds() * 1000)
    milliseconds = min(max(milliseconds, 0), (1 << 48) - 1)
    value = milliseconds << 80 | 0x7 << 76 | secrets.randbits(12) << 64 | 0b10 << 62 | secrets.randbits(62)
    return UUID(int=value)
