"""Proving every recorded body again, and counting how each is given back."""

from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models.functions import Length

from conversations.models import Generation
from conversations.replay.bodies import NotReplayableError, ReplayError, request_body_of
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
    after: tuple[UUID, int] | None = None
    while True:
        after = verify_batch(tally, conversation_id=conversation_id, after=after, limit=BATCH)
        if after is None:
            return tally


def verify_batch(
    tally: Tally, *, after: tuple[UUID, int] | None, conversation_id: UUID | None, limit: int
) -> tuple[UUID, int] | None:
    """Verify the next bodies after that key into `tally`; return the last key, or None at the end."""
    attempts = Generation.objects.exclude(body_proof=BodyProof.NONE).order_by("conversation_id", "number")
    if conversation_id is not None:
        attempts = attempts.filter(conversation_id=conversation_id)
    if after is not None:
        attempts = attempts.filter(pk__gt=after)
    # Of a patch its size only: those of a batch would be held together.
    found = attempts.values_list("conversation_id", "number", "body_proof", Length("body_patch"))
    keys = list(found[:limit])
    for found_id, number, proof, patch_size in keys:
        _verify(tally, found_id, number, proof, patch_size or 0)
    return (keys[-1][0], keys[-1][1]) if len(keys) == limit else None


def _verify(tally: Tally, conversation_id: UUID, number: int, proof: str, patch_size: int) -> None:
    try:
        body = request_body_of(conversation_id=conversation_id, number=number)
    except NotReplayableError:
        tally.lost += 1
    except ReplayError as error:
        tally.failures.append(str(error))
    else:
        tally.proofs[proof] += 1
        tally.patch_bytes += patch_size
        tally.body_bytes += len(body)
