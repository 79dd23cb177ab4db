"""What makes two histories the same: the run of units along a path, and its digest.

Clients do not echo what they got. They re-order keys, drop thinking, move cache
marks, turn a string into a list of one block, merge messages and split them. A
path is therefore compared by units, never by bytes or by messages:

- a user, system or tool block is a unit by its JSON value, without
  `cache_control`, nulls and the fields that only responses carry; a string is
  one text block;
- all adjacent assistant blocks are one turn, and the turn is one unit: its
  client calls (id, name, arguments by value) or, if it has none, its text
  without outer white space;
- thinking, server-tool blocks, blank text and the bounds of messages carry no
  identity.

What a unit is stands in `units.py`. The path digest is a chain over them (see `digests.py`), salted by the
account, so that two customers who both say "hi" never share one. A message's
digest covers the units up to its end; while a turn is still open it covers the
turn as far as it goes, and each message added to the turn closes it anew.
"""

from collections.abc import Iterable, Sequence
from uuid import UUID

from conversations import digests
from conversations.drafts import MessageDraft
from conversations.units import block_units, call_unit, part_text, turn_unit
from conversations.vocabulary import PartType, Role


class PathChain:
    """The digest of a path, message by message.

    Starts at the root, or goes on from a stored message: then `digest` is that
    message's own if no assistant's turn is open at it, else the digest from
    before the turn, with the turn's messages in `open_turn`.
    """

    __slots__ = ("_calls", "_closed", "_end", "_texts")

    def __init__(
        self,
        *,
        account_id: UUID,
        digest: bytes | None = None,
        open_turn: Iterable[MessageDraft] = (),
        end: bytes | None = None,
    ) -> None:
        """Stand behind `digest` and the messages of an open turn.

        Where `end`, the digest behind these, is known, it is taken: their bytes need not be there, unless
        the turn goes on.
        """
        self._closed = digests.path_salt(account_id) if digest is None else digest
        self._calls: list[bytes] = []
        self._texts: list[str] = []
        for message in open_turn:
            self._add_to_turn(message)
        self._end: bytes | None = end

    def add(self, message: MessageDraft) -> bytes:
        """Take one more message; return the digest at its end."""
        if message.role == Role.ASSISTANT:
            self._add_to_turn(message)
            return self.digest()
        self._closed = digests.chain(self.digest(), map(digests.digest_unit, block_units(message)))
        self._calls, self._texts, self._end = [], [], self._closed
        return self._closed

    def add_by_parts(self, message: MessageDraft) -> list[bytes]:
        """Take one more message; return the digest after each of its parts, as far as they can be told apart.

        An assistant's turn is one unit: it has one digest, at the message's end.
        """
        if message.role == Role.ASSISTANT or len(message.parts) < 2:
            return [self.add(message)]
        whole = MessageDraft(role=message.role)
        found = []
        for part in message.parts:
            whole.parts = [part]
            found.append(self.add(whole))
        return found

    def digest(self) -> bytes:
        """Return the digest of what was taken so far, an open turn included."""
        if self._end is None:
            unit = turn_unit(self._calls, self._texts)
            units = [] if unit is None else [digests.digest_unit(unit)]
            self._end = digests.chain(self._closed, units)
        return self._end

    def _add_to_turn(self, message: MessageDraft) -> None:
        self._end = None
        for part in message.parts:
            if part.type == PartType.TOOL_USE:
                self._calls.append(call_unit(part))
            elif part.type == PartType.TEXT:
                self._texts.append(part_text(part))


def path_digests(messages: Sequence[MessageDraft], *, account_id: UUID) -> list[bytes]:
    """Give the path digest at the end of each message, from the root."""
    chain = PathChain(account_id=account_id)
    return [chain.add(message) for message in messages]


def unit_digests(message: MessageDraft) -> list[bytes]:
    """Give what one message adds to the chain, where no assistant's turn is open before it."""
    if message.role != Role.ASSISTANT:
        return [digests.digest_unit(unit) for unit in block_units(message)]
    calls = [call_unit(part) for part in message.parts if part.type == PartType.TOOL_USE]
    unit = turn_unit(calls, [part_text(part) for part in message.parts if part.type == PartType.TEXT])
    return [] if unit is None else [digests.digest_unit(unit)]
