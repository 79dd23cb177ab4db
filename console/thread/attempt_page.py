"""One attempt with everything that was kept of it, and how its request body is given back."""

from dataclasses import dataclass
from uuid import UUID

from conversations.models import Generation
from conversations.vocabulary import BodyProof, Dialect

PROOFS = {
    BodyProof.EXACT: "Rebuilt from the tree, byte for byte",
    BodyProof.PATCHED: "Rebuilt from the tree with a patch, byte for byte",
    BodyProof.VERBATIM: "Kept whole as it was sent",
    BodyProof.LOST: "No longer replayable: bytes that it was made of were taken away",
    BodyProof.NONE: "No request body was recorded",
}


@dataclass(frozen=True, slots=True)
class AttemptPage:
    generation: Generation
    siblings: list[int]

    @property
    def proof(self) -> str:
        return PROOFS[BodyProof(self.generation.body_proof)]

    @property
    def has_body(self) -> bool:
        return self.generation.body_proof not in (BodyProof.NONE, BodyProof.LOST)

    @property
    def dialect(self) -> Dialect | None:
        return Dialect(self.generation.dialect) if self.generation.dialect else None

    @property
    def sha256(self) -> str:
        return bytes(self.generation.body_sha256).hex() if self.generation.body_sha256 else ""

    @property
    def file_name(self) -> str:
        return f"request-{self.generation.conversation_id.hex[-8:]}-{self.generation.number}.json"


def read_attempt_page(*, conversation_id: UUID, number: int) -> AttemptPage | None:
    """Return the attempt and the numbers of the other attempts of its request; two queries."""
    generation = (
        Generation.objects.filter(conversation_id=conversation_id, number=number).defer("body_patch").first()
    )
    if generation is None:
        return None
    siblings = Generation.objects.filter(
        conversation_id=conversation_id, request_id=generation.request_id
    ).exclude(number=number)
    return AttemptPage(generation, list(siblings.order_by("attempt").values_list("number", flat=True)))
