"""The names of a session's branches, as its markers keep them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

MAIN: Final = "main"


@dataclass(frozen=True, slots=True)
class Branch:
    """`leaf_id` is where the branch ends, None where it holds nothing; `created_at` is ISO 8601."""

    leaf_id: str | None
    created_at: str


@dataclass(frozen=True, slots=True)
class Registry:
    """Where the branches end that are not current; where the current one ends, the head says.

    Of the current branch `leaf_id` is where the head goes when a switch to it is finished.
    `used` are all names that ever were given: none is given twice.
    """

    current: str = MAIN
    branches: Mapping[str, Branch] = field(default_factory=dict)
    used: frozenset[str] = frozenset({MAIN})

    @property
    def target(self) -> str | None:
        """Where the head is to go from the marker; None where it stays: then the session is empty."""
        return self.leaf_of(self.current)

    def leaf_of(self, name: str) -> str | None:
        found = self.branches.get(name)
        return None if found is None else found.leaf_id

    def noted(self, leaf_id: str | None) -> "Registry":
        """Return it with where the current branch ends, None where it holds nothing."""
        known = self.branches.get(self.current)
        branch = Branch(leaf_id, known.created_at if known else "")
        return replace(self, branches={**self.branches, self.current: branch})

    def switched(self, name: str, *, from_leaf: str | None) -> "Registry":
        """Return it with another branch current; where the branch so far ends is noted."""
        return replace(self.noted(from_leaf), current=name)

    def created(self, name: str, *, leaf_id: str | None, from_leaf: str | None, now: str) -> "Registry":
        branches = {**self.noted(from_leaf).branches, name: Branch(leaf_id, now)}
        return Registry(current=name, branches=branches, used=self.used | {name})

    def deleted(self, name: str) -> "Registry":
        return replace(self, branches={key: it for key, it in self.branches.items() if key != name})

    def cleared(self) -> "Registry":
        """Return the registry of a session that begins anew; its names stay used."""
        return Registry(used=self.used)

    def to_json(self) -> dict[str, Any]:
        return {
            "current": self.current,
            "branches": {
                name: {"leaf": it.leaf_id, "created_at": it.created_at} for name, it in self.branches.items()
            },
            "used": sorted(self.used),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Registry":
        branches = {name: Branch(it["leaf"], it["created_at"]) for name, it in value["branches"].items()}
        return cls(current=value["current"], branches=branches, used=frozenset(value["used"]))
