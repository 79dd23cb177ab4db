"""The path digests of imported messages, by which the recorder goes on from them."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from conversations.drafts import MessageDraft
from conversations.identity import PathChain
from conversations.imports.pairing import PairedMessage
from conversations.reads.digests import lost_turn
from conversations.reads.path import StoredMessage
from conversations.vocabulary import Role

# System messages at the start are a request's preamble: they are no part of its path.
_PREAMBLE: Final = frozenset({Role.SYSTEM, Role.DEVELOPER})


def digests_of(
    messages: Sequence[PairedMessage],
    stored: Sequence[StoredMessage],
    *,
    account_id: UUID,
    conversation_id: UUID | None,
) -> list[bytes | None]:
    """The path digest at each message; those of the leading system messages say nothing and have none.

    Below a stored message without one there are none either. A stored turn that goes on and whose bytes
    are not at hand is its own place in the chain.
    """
    found: list[bytes | None] = [one.path_digest for one in stored]
    chains: dict[int, PathChain] = {}
    is_leading: list[bool] = []
    for place, message in enumerate(messages):
        above = message.parent
        leading = message.message.role in _PREAMBLE and (above < 0 or is_leading[above])
        is_leading.append(leading)
        if place < len(stored):
            continue
        if leading or (above >= 0 and not is_leading[above] and found[above] is None):
            found.append(None)
            continue
        chain = chains.pop(above, None) or _chain_at(
            above, messages, found, is_leading, stored, account_id, conversation_id
        )
        found.append(chain.add(message.message))
        chains[place] = chain
    return found


def _chain_at(
    place: int,
    messages: Sequence[PairedMessage],
    digests: Sequence[bytes | None],
    is_leading: Sequence[bool],
    stored: Sequence[StoredMessage],
    account_id: UUID,
    conversation_id: UUID | None,
) -> PathChain:
    """A chain that stands behind the message at `place`: its turn is walked up where one is open."""
    turn: list[int] = []
    above = place
    while above >= 0 and not is_leading[above] and messages[above].message.role == Role.ASSISTANT:
        turn.append(above)
        above = messages[above].parent
    closed = digests[above] if above >= 0 and not is_leading[above] else None
    kept = [one for one in turn if one < len(stored)]
    if conversation_id is not None and any(_is_elsewhere(messages[one].message) for one in kept):
        closed = lost_turn(conversation_id, stored[kept[0]].seq)
        turn = turn[: -len(kept)]
    return PathChain(
        account_id=account_id,
        digest=closed,
        open_turn=[messages[one].message for one in reversed(turn)],
        end=None if above == place else digests[place],
    )


def _is_elsewhere(message: MessageDraft) -> bool:
    """Whether bytes of the message are in an archive, in a file, or gone."""
    return any(part.text is None and part.payload is None for part in message.parts)
