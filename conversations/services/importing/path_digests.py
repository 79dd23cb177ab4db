"""The path digests of imported messages, by which the recorder goes on from them."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from conversations.identity import PathChain
from conversations.imports.pairing import PairedMessage
from conversations.reads.path import StoredMessage
from conversations.vocabulary import Role

# System messages at the start are a request's preamble: they are no part of its path.
_PREAMBLE: Final = frozenset({Role.SYSTEM, Role.DEVELOPER})


def digests_of(
    messages: Sequence[PairedMessage], stored: Sequence[StoredMessage], account_id: UUID
) -> list[bytes | None]:
    """The path digest at each message; those of the leading system messages say nothing and have none."""
    found: list[bytes | None] = [one.path_digest for one in stored]
    chains: dict[int, PathChain] = {}
    is_leading: list[bool] = []
    for place, message in enumerate(messages):
        above = message.parent
        leading = message.message.role in _PREAMBLE and (above < 0 or is_leading[above])
        is_leading.append(leading)
        if place < len(stored):
            continue
        if leading:
            found.append(None)
            continue
        chain = chains.pop(above, None) or _chain_at(messages, found, above, is_leading, account_id)
        found.append(chain.add(message.message))
        chains[place] = chain
    return found


def _chain_at(
    messages: Sequence[PairedMessage],
    digests: Sequence[bytes | None],
    place: int,
    is_leading: Sequence[bool],
    account_id: UUID,
) -> PathChain:
    """A chain that stands behind the message at `place`: its turn is walked up where one is open."""
    turn: list[PairedMessage] = []
    while place >= 0 and not is_leading[place] and messages[place].message.role == Role.ASSISTANT:
        turn.append(messages[place])
        place = messages[place].parent
    closed = digests[place] if place >= 0 and not is_leading[place] else None
    return PathChain(account_id=account_id, digest=closed, open_turn=[one.message for one in reversed(turn)])
