"""Branches of a session, as the SDK's own session with branches has them: named, begun from a turn.

A turn is what follows a user's item. A branch is a leaf in the store's tree, and a name for it;
switching moves the head.
"""

import functools
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, ParamSpec, TypeVar

from counterfoil_recorder.agents.conversation import TRIES, Conversation, Overtaken, Tail, busy
from counterfoil_recorder.agents.items import is_users
from counterfoil_recorder.agents.registry import MAIN, Registry

_PREVIEW: Final = 100
P = ParamSpec("P")
T = TypeVar("T")


def _again(work: Callable[P, T]) -> Callable[P, T]:
    """Do the work anew, from what is read anew, where somebody else moved the head in between."""

    @functools.wraps(work)
    def try_often(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(TRIES):
            try:
                return work(*args, **kwargs)
            except Overtaken:
                continue
        raise busy()

    return try_often


class Branches:
    """What can be done with the branches of one session. Not safe for several threads."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def items(self, name: str | None) -> list[Any]:
        """Return the items of a branch: of the current one for None, none of one that is unknown."""
        if name is None:
            return self._conversation.items()
        return self._items(self._conversation.registry(), name)

    @_again
    def create_from_turn(self, turn: int, name: str | None) -> str:
        """Begin a branch that holds what came before the turn, and switch to it."""
        if name is not None and not name.strip():
            raise ValueError("Branch name cannot be empty")
        tail, registry = self._state()
        users = self._user_nodes(tail)
        if not 1 <= turn <= len(users):
            raise ValueError(f"Turn {turn} does not contain a user message in branch '{registry.current}'")
        if name is not None and name in registry.used:
            raise ValueError(f"Branch ID '{name}' has already been used. Choose a new branch ID.")
        chosen = name or _free_name(f"branch_from_turn_{turn}_{int(time.time())}", registry)
        leaf_id = users[turn - 1]["parent_id"]
        now = datetime.now(UTC).isoformat()
        made = registry.created(chosen, leaf_id=leaf_id, from_leaf=tail.leaf_id, now=now)
        self._conversation.mark(made, after=tail.move)
        return chosen

    def create_from_content(self, term: str, name: str | None) -> str:
        """Begin a branch from the first turn whose user item holds the words."""
        found = self.find_turns(term, None)
        if not found:
            raise ValueError(f"No user turns found containing '{term}'")
        return self.create_from_turn(found[0]["turn"], name)

    @_again
    def switch(self, name: str) -> None:
        """Show a branch from now on: to every session object and every process."""
        tail, registry = self._state()
        if name == registry.current and not tail.is_empty:
            return
        if name == registry.current or not self._items(registry, name):
            raise ValueError(f"Branch '{name}' does not exist")
        switched = registry.switched(name, from_leaf=tail.leaf_id)
        self._conversation.mark(switched, after=tail.move)

    @_again
    def delete(self, name: str, *, force: bool) -> None:
        """Take the branch off the list. What was said on it stays in the store."""
        if not name or not name.strip():
            raise ValueError("Branch ID cannot be empty")
        if name == MAIN:
            raise ValueError("Cannot delete the 'main' branch")
        tail, registry = self._state()
        is_current = name == registry.current
        if is_current and not force:
            raise ValueError(
                f"Cannot delete current branch '{name}'. Use force=True or switch branches first"
            )
        if not self._items(registry, name):
            raise ValueError(f"Branch '{name}' does not exist")
        if is_current:
            if not self._items(registry, MAIN):
                raise ValueError(f"Branch '{MAIN}' does not exist")
            left = registry.switched(MAIN, from_leaf=None).deleted(name)
        else:
            left = registry.noted(tail.leaf_id).deleted(name)
        self._conversation.mark(left, after=tail.move)

    def all(self) -> list[dict[str, Any]]:
        """Return the branches that hold something, oldest first."""
        registry = self._conversation.registry()
        told = []
        for name in {MAIN: None, **dict.fromkeys(registry.branches)}:
            items = self._items(registry, name)
            if items:
                told.append(
                    {
                        "branch_id": name,
                        "message_count": len(items),
                        "user_turns": sum(map(is_users, items)),
                        "is_current": name == registry.current,
                        "created_at": self._created_at(registry, name),
                    }
                )
        return told

    def turns(self, name: str | None) -> list[dict[str, Any]]:
        """Return the user's items of a branch with their numbers."""
        registry = self._conversation.registry()
        leaf_id = self._leaf_of(registry, name)
        if leaf_id is None:
            return []
        said = [item for item in self._conversation.items(leaf_id) if is_users(item)]
        nodes = [node for node in self._conversation.nodes(leaf_id) if node["role"] == "user"]
        return [
            {
                "turn": turn,
                "content": _preview(item.get("content", ""), _PREVIEW),
                "full_content": item.get("content", ""),
                "timestamp": node["created_at"],
                "can_branch": True,
            }
            for turn, (item, node) in enumerate(zip(said, nodes, strict=True), start=1)
        ]

    def find_turns(self, term: str, name: str | None) -> list[dict[str, Any]]:
        """Return the turns whose user item holds the words, whatever their case."""
        sought = term.casefold()
        return [
            {**turn, "content": _preview(turn["full_content"])}
            for turn in self.turns(name)
            if sought in _words(turn["full_content"]).casefold()
        ]

    @_again
    def clear(self) -> None:
        """Begin anew, without branches. What was said stays in the store."""
        tail, registry = self._state()
        if not tail.is_empty or registry.branches or registry.current != MAIN:
            self._conversation.mark(registry.cleared(), after=tail.move)

    def _state(self) -> tuple[Tail, Registry]:
        tail = self._conversation.tail()
        return tail, tail.registry or self._conversation.registry()

    def _items(self, registry: Registry, name: str) -> list[Any]:
        if name == registry.current:
            return self._conversation.items()
        leaf_id = self._leaf_of(registry, name)
        return [] if leaf_id is None else self._conversation.items(leaf_id)

    def _leaf_of(self, registry: Registry, name: str | None) -> str | None:
        if name is None or name == registry.current:
            return self._conversation.tail().leaf_id
        return registry.leaf_of(name)

    def _user_nodes(self, tail: Tail) -> list[dict[str, Any]]:
        leaf_id = tail.leaf_id
        return (
            [] if leaf_id is None else [n for n in self._conversation.nodes(leaf_id) if n["role"] == "user"]
        )

    def _created_at(self, registry: Registry, name: str) -> str:
        known = registry.branches.get(name)
        if known is not None and known.created_at:
            return known.created_at
        leaf_id = self._leaf_of(registry, name)
        nodes = [] if leaf_id is None else self._conversation.nodes(leaf_id)
        return str(nodes[0]["created_at"]) if nodes else ""


def _free_name(base: str, registry: Registry) -> str:
    name, number = base, 1
    while name in registry.used:
        number += 1
        name = f"{base}_{number}"
    return name


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))


def _preview(content: Any, longest: int | None = None) -> str:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return text if longest is None or len(text) <= longest else text[:longest] + "..."
