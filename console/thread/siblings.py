"""‹2/3›: the versions of a message, who made them and why, and the way to the ones beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from access.actors import ActorKind
from conversations.reads.tree import Tree
from conversations.vocabulary import BranchReason

_MADE: Final = {
    BranchReason.USER_EDIT: "edited",
    BranchReason.REGENERATE: "regenerated",
    BranchReason.CLIENT_REWRITE: "history rewritten",
    BranchReason.IMPORT: "imported",
    BranchReason.FORK: "forked",
}
_BY: Final = {
    ActorKind.CUSTOMER: "by the customer",
    ActorKind.STAFF: "by staff",
    ActorKind.APPLICATION: "by the application",
    ActorKind.IMPORTER: "by an import",
    ActorKind.JOB: "by a job",
    ActorKind.PROCESSOR: "by the processor",
}


@dataclass(frozen=True, slots=True)
class Versions:
    """Which version this is, of how many; `previous` and `following` are message numbers or None."""

    at: int
    count: int
    previous: int | None
    following: int | None
    made: str
    made_at: datetime | None


def versions_of(tree: Tree, seq: int, *, movers: Mapping[datetime, str]) -> Versions | None:
    """Return the versions of a message, or None where there is one only."""
    siblings = tree.versions_of(seq)
    if len(siblings) < 2:
        return None
    place = siblings.index(seq)
    node = tree.nodes[seq]
    made = _MADE.get(BranchReason(node.branch_reason), "")
    mover = movers.get(node.created_at, "")
    return Versions(
        at=place + 1,
        count=len(siblings),
        previous=siblings[place - 1] if place else None,
        following=siblings[place + 1] if place + 1 < len(siblings) else None,
        made=" ".join(filter(None, (made, _BY.get(ActorKind(mover), "") if mover and made else ""))),
        made_at=node.created_at if made else None,
    )
