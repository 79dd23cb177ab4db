"""The chain of digests along a path. PostgreSQL computes the same in `conversations_chain()`.

A digest stands for everything said up to and including a message, salted by
the account, so that equal words of two customers never meet.
"""

import hashlib
from collections.abc import Iterable
from uuid import UUID

DIGEST_BYTES = 16


def digest_unit(unit: bytes) -> bytes:
    """Shorten the canonical bytes of one unit of identity to the 16 bytes that the chain takes in."""
    return hashlib.sha256(unit).digest()[:DIGEST_BYTES]


def path_salt(account_id: UUID) -> bytes:
    """The digest of an empty path."""
    return hashlib.sha256(account_id.bytes).digest()[:DIGEST_BYTES]


def chain(previous: bytes, units: Iterable[bytes]) -> bytes:
    """Continue a path's digest over unit digests (`digest_unit`), in order."""
    for unit in units:
        previous = hashlib.sha256(previous + unit).digest()[:DIGEST_BYTES]
    return previous
