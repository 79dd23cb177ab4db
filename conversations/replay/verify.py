"""Proving every recorded body again, and counting how each is given back."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

from conversations.models import Generation
from conversations.replay.bodies import DamagedError, NotReplayableError, ReplayError, request_body_of
from conversations.vocabulary import BodyProof

BATCH = 500


@dataclass(slots=True)
class Tally:
    """How many bodies are given back how. `failures` name the attempts whose bytes came back different."""

    proofs: Counter[str] = field(default_factory=Counter)
    patch_bytes: int = 0
    body_bytes: int = 0
    lost: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def proved(self) -> int:
        return sum(self.proofs.values())


def verify_replay(*, conversation_id: UUID | None = None) -> Tally:
    """Rebuild every recorded body and check it against its digest; only reads, batch by batch."""
    tally = Tally()
    for found_id, number, proof, patch_size in _recorded(conversation_id):
        _verify(tally, found_id, number, proof, patch_size)
    return tally


def _verify(tally: Tally, conversation_id: UUID, number: int, proof: str, patch_size: int) -> None:
    try:
        body = request_body_of(conversation_id=conversation_id, number=number)
    except NotReplayableError:
        tally.lost += 1
    except (DamagedError, ReplayError) as error:
        tally.failures.append(str(error))
    else:
        tally.proofs[proof] += 1
        tally.patch_bytes += patch_size
        tally.body_bytes += len(body)


def _recorded(conversation_id: UUID | None) -> Iterator[tuple[UUID, int, str, int]]:
    """Give the keys of all attempts with a recorded body, a batch at a time."""
    attempts = Generation.objects.exclude(body_proof=BodyProof.NONE).order_by("conversation_id", "number")
    if conversation_id is not None:
        attempts = attempts.filter(conversation_id=conversation_id)
    after: tuple[UUID, int] | None = None
    while True:
        page = attempts if after is None else attempts.filter(pk__gt=after)
        rows = [
            (row[0], row[1], row[2], len(row[3] or b""))
            for row in page.values_list("conversation_id", "number", "body_proof", "body_patch")[:BATCH]
        ]
        yield from rows
        if len(rows) < BATCH:
            return
        after = rows[-1][:2]
