"""Where a request hangs in a conversation's tree: as deep as its history is known there.

Called with the conversation's row locked: what is read here stays true until
the exchange is written.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

from django.db import connection

from conversations.drafts import MessageDraft
from conversations.identity import PathChain
from conversations.reads.path import path_seqs
from conversations.vocabulary import Role

# A user's turn of several results, and the answer before it.
LATEST_POINTS: Final = 12


class Point(NamedTuple):
    """A place in the request: behind the first `parts` parts of message `place`."""

    digest: bytes
    place: int
    parts: int


@dataclass(slots=True)
class RequestPath:
    """A request's messages, and the digest of the path at every point that a stored message could end at."""

    messages: Sequence[MessageDraft]
    chain: PathChain
    points: list[Point] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)

    @classmethod
    def along(cls, messages: Sequence[MessageDraft], chain: PathChain, *, first: int = 0) -> "RequestPath":
        """Chain over the messages from `first` on; `chain` stands before it."""
        path = cls(messages=messages, chain=chain, digests=[b""] * first)
        for index in range(first, len(messages)):
            found = chain.add_by_parts(messages[index])
            path.points += [Point(digest, index, parts) for parts, digest in enumerate(found[:-1], start=1)]
            path.points.append(Point(found[-1], index, len(messages[index].parts)))
            path.digests.append(found[-1])
        return path


class Candidate(NamedTuple):
    """A stored message whose path has one of the request's digests."""

    seq: int
    parent_seq: int | None
    role: str
    digest: bytes


class Matched(NamedTuple):
    """The stored message that the request hangs on, and what of the request is known up to there.

    `messages[:place]` are known whole, and `parts` parts of the next one.
    """

    seq: int
    place: int
    parts: int


def find_deepest(path: RequestPath, *, conversation_id: UUID, head_seq: int | None) -> Matched | None:
    """Return the deepest match; of several the one on the live path, then the one written last.

    Nearly every request adds a turn to what is known, so its end is asked about before all of it.
    """
    end = len(path.points)
    for first in (max(0, end - LATEST_POINTS), 0):
        digests = {point.digest for point in path.points[first:end]}
        candidates = _read_candidates(conversation_id, digests) if digests else {}
        for position in range(end - 1, first - 1, -1):
            found = candidates.get(path.points[position].digest)
            if found:
                return _settle(path, position, found, conversation_id, head_seq)
        end = first
    return None


def _read_candidates(conversation_id: UUID, digests: Collection[bytes]) -> dict[bytes, list[Candidate]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT seq, parent_seq, role, path_digest FROM conversations_message"
            " WHERE path_digest = ANY(%s::bytea[]) AND conversation_id = %s ORDER BY seq",
            [list(digests), conversation_id],
        )
        found: dict[bytes, list[Candidate]] = {}
        for seq, parent_seq, role, digest in cursor.fetchall():
            found.setdefault(bytes(digest), []).append(Candidate(seq, parent_seq, role, bytes(digest)))
    return found


def _settle(
    path: RequestPath,
    position: int,
    found: Sequence[Candidate],
    conversation_id: UUID,
    head_seq: int | None,
) -> Matched:
    """Choose among messages with one digest, and say where in the request it ends.

    Messages without identity (blank text, thinking alone) share the digest of
    the message before them, in the request as in the tree: they are laid side
    by side, and what the tree lacks of them is still new.
    """
    digest = path.points[position].digest
    first = position
    while first and path.points[first - 1].digest == digest:
        first -= 1
    while first < position and path.points[first + 1].place == path.points[first].place:
        first += 1  # a blank part at a message's end belongs to the message
    chain = _chain_of(found, conversation_id, head_seq)
    start, end = path.points[first], path.points[position]
    blanks = end.place - start.place
    is_whole = end.place == len(path.messages) - 1
    if blanks:
        known = min(blanks, len(chain) - 1)
        return _ending(path, chain[known].seq, start, skipped=known)
    if is_whole:
        is_answer = path.messages[-1].role == Role.ASSISTANT
        fitting = [one for one in chain if (one.role == Role.ASSISTANT) == is_answer] or chain
        return _ending(path, fitting[0].seq, end)
    return _ending(path, chain[-1].seq, end)


def _ending(path: RequestPath, seq: int, point: Point, *, skipped: int = 0) -> Matched:
    if skipped or point.parts == len(path.messages[point.place].parts):
        return Matched(seq, point.place + skipped + 1, 0)
    return Matched(seq, point.place, point.parts)


def _chain_of(found: Sequence[Candidate], conversation_id: UUID, head_seq: int | None) -> list[Candidate]:
    """Return the messages of one digest that hang below each other, on the best of several branches."""
    if len(found) == 1:
        return list(found)
    by_seq = {one.seq: one for one in found}
    chains: list[list[Candidate]] = []
    for one in found:
        for chain in chains:
            if chain[-1].seq == one.parent_seq:
                chain.append(one)
                break
        else:
            above = by_seq.get(one.parent_seq) if one.parent_seq is not None else None
            chains.append([above, one] if above else [one])
    if len(chains) == 1:
        return chains[0]
    live = set() if head_seq is None else set(path_seqs(conversation_id=conversation_id, leaf_seq=head_seq))
    return max(chains, key=lambda chain: (chain[-1].seq in live, chain[0].seq in live, chain[-1].seq))
