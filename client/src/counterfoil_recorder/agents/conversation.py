"""One session's conversation in the store: what is read of it, and the few steps that change it.

The first message has nothing above it that the head could move to: where a session is to be empty,
the head stands on a hidden marker, a root of its own, beside what was said. What is said next is a
root again, so a marker is never on the path to an item.
"""

import json
import uuid
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from counterfoil_recorder.agents.items import MARKER, Said, is_marker, items_of
from counterfoil_recorder.agents.registry import Registry
from counterfoil_recorder.agents.store_api import SessionRefused, StoreApi

TRIES: Final = 50
_DIALECT: Final = "openai_responses"
_HEAD_MOVED: Final = 412
# There is nothing to read: no message yet, or not that one any more.
_NOTHING: Final = frozenset({"no-head", "no-message"})
# What the store says where somebody else wrote in between: then the path is read again.
_OVERTAKEN: Final = frozenset(
    {"call-unanswered", "result-without-call", "answers-another-turn", "call-answered-twice"}
)
_MOVES_READ: Final = 200


class Overtaken(Exception):
    """Somebody else moved the head; nothing is left of what was begun."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The last message of the path, as it was when it was read; None where there is none."""

    message: dict[str, Any] | None
    move: int

    @property
    def registry(self) -> Registry | None:
        """What the marker says, where the head stands on one."""
        return None if self.message is None else _registry_in(self.message)

    @property
    def is_empty(self) -> bool:
        return self.message is None or self.registry is not None

    @property
    def leaf_id(self) -> str | None:
        """The message that the path ends in, if it holds anything."""
        return None if self.is_empty or self.message is None else str(self.message["id"])


@dataclass(frozen=True, slots=True)
class _Move:
    """The head's move before it was moved to a new root, and where to."""

    number: int
    message_id: str
    root_id: str


class Conversation:
    """It is begun with the first request."""

    def __init__(self, api: StoreApi, *, session_id: str, account: str, label: str = "") -> None:
        self._api = api
        self._begin = {
            "account": {"external_id": account, **({"label": label} if label else {})},
            "external_ref": reference_of(session_id),
        }
        self._id = ""

    @property
    def id(self) -> str:
        """The store's id of the conversation."""
        if not self._id:
            self._id = self._api.post("/conversations", self._begin)["id"]
        return self._id

    @property
    def _path(self) -> str:
        return f"/conversations/{self.id}"

    def items(self, leaf_id: str = "") -> list[Any]:
        """Return the items on the path to the head, or to a message; none where that was purged."""
        listed = self._listed(leaf_id)
        if not leaf_id and _is_half_way(listed):
            self.tail()
            listed = self._listed("")
        return items_of(listed)

    def tail(self) -> Tail:
        """Return where the session stands. A switch that was broken off half-way is finished first."""
        tail = self._read_tail()
        target = None if tail.registry is None else tail.registry.target
        if target is None:
            return tail
        try:
            self.move_to(target, after=tail.move)
        except Overtaken:
            pass  # by somebody who finished it too
        except SessionRefused as refused:
            if refused.rule not in _NOTHING:
                raise
            return tail  # the branch was purged meanwhile: it holds nothing
        return self._read_tail()

    def last_messages(self, count: int) -> list[dict[str, Any]]:
        """Return so many messages from the end of the path."""
        path: list[dict[str, Any]] = self._api.get(self._path, last=count)["path"]
        return path

    def nodes(self, leaf_id: str) -> list[dict[str, Any]]:
        """Return the messages on the path to a message, without a word of what they say.

        None where that was purged.
        """
        by_id = {node["id"]: node for node in self._api.get(f"{self._path}/tree")["nodes"]}
        path: list[dict[str, Any]] = []
        at: str | None = leaf_id
        while at in by_id:
            path.append(by_id[at])
            at = by_id[at]["parent_id"]
        return [node for node in reversed(path) if not _may_be_marker(node)]

    def registry(self, *, before: str = "") -> Registry:
        """Return what the newest marker says of the branches, or the newest before a message."""
        nodes = self._api.get(f"{self._path}/tree")["nodes"]
        markers = [node for node in nodes if _may_be_marker(node)]
        if before:
            markers = [node for node in markers if node["seq"] < seq_of(before)]
        for node in sorted(markers, key=lambda one: -int(one["seq"])):
            found = _registry_in(self._api.get(f"{self._path}/messages/{node['seq']}"))
            if found is not None:
                return found
        return Registry()

    def append(self, said: Said, *, name: str) -> None:
        """Write a message at the head. `name` is its own, so that it is written once."""
        self._write(said, name=name)

    def append_root(self, said: Said, *, name: str, after: int) -> str | None:
        """Write a message above which there is nothing.

        Such a write cannot be made to depend on where the head was. If it moved since the move
        `after`, it is put back to where somebody else moved it: Overtaken. If by then they have
        gone on below this message, it stays, and the message is returned that they moved to first.
        """
        before = self._put_root(said, name=name, after=after)
        if before is None:
            return None
        try:
            self.move_to(before.message_id, after=before.number + 1)
        except Overtaken:
            return before.message_id
        raise Overtaken

    def mark(self, registry: Registry, *, after: int) -> None:
        """Put the head on a new marker, and on from there to where the marker says.

        If it moved since the move `after`, another marker says again what held: Overtaken.
        """
        before = self._put_marker(registry, after=after)
        if before is not None:
            theirs = self._api.get(f"{self._path}/messages/{seq_of(before.message_id)}")
            held = _registry_in(theirs)
            if held is None:
                held = self.registry(before=before.root_id).noted(before.message_id)
            self._put_marker(held, after=before.number + 1)
        self.tail()
        if before is not None:
            raise Overtaken

    def _put_marker(self, registry: Registry, *, after: int) -> "_Move | None":
        block = json.dumps({"type": MARKER, "role": "system", **registry.to_json()})
        said = Said("system", (), (block,))
        return self._put_root(said, name=f"agents:{uuid.uuid4()}", after=after, is_hidden=True)

    def _put_root(self, said: Said, *, name: str, after: int, is_hidden: bool = False) -> "_Move | None":
        """Write a root and move the head there; return the move before that, if it is not `after`."""
        written = self._write(said, name=name, below_id=None, is_hidden=is_hidden)
        mine = written["message"]["id"]
        if written["head"] == {"message_id": mine, "move": after + 1}:
            return None
        moves = self._api.get(f"{self._path}/head-moves", limit=_MOVES_READ)["data"]
        number = min(one["number"] for one in moves if one["message_id"] == mine)
        if number == after + 1:
            return None
        [theirs] = [str(one["message_id"]) for one in moves if one["number"] == number - 1]
        return _Move(number - 1, theirs, root_id=mine)

    def move_to(self, message_id: str, *, after: int) -> None:
        """Move the head; Overtaken where it has moved since the move `after`."""
        try:
            self._api.ask(
                "PUT",
                f"{self._path}/head",
                body={"message_id": message_id},
                headers={"If-Match": f'"{after}"'},
            )
        except SessionRefused as refused:
            if refused.status != _HEAD_MOVED:
                raise
            # Where the request was repeated, the first one may have done it, and its answer was lost.
            done = {"message_id": message_id, "move": after + 1}
            if not refused.is_repeated or self._api.get(f"{self._path}/head") != done:
                raise Overtaken from refused

    def _listed(self, leaf_id: str) -> list[Any]:
        parameters = {"dialect": _DIALECT, "model": "agents"} | ({"leaf_id": leaf_id} if leaf_id else {})
        try:
            answer = self._api.ask(
                "GET",
                f"{self._path}/next-body",
                parameters=parameters,
                headers={"Accept": "application/octet-stream"},
            )
        except SessionRefused as refused:
            if refused.rule in _NOTHING:
                return []
            raise
        listed: list[Any] = answer.json()["input"]
        return listed

    def _read_tail(self) -> Tail:
        told = self._api.get(self._path, last=1)
        return Tail(message=told["path"][-1] if told["path"] else None, move=told["head_move"])

    def _write(self, said: Said, *, name: str, **changes: Any) -> Any:
        body = {
            "dialect": _DIALECT,
            "parts": [{"block": block} for block in said.blocks],
            "client_message_id": name,
        }
        try:
            if said.role == "tool":
                return self._api.post(f"{self._path}/tool-results", body)
            return self._api.post(f"{self._path}/messages", {**body, "role": said.role, **changes})
        except SessionRefused as refused:
            if refused.rule in _OVERTAKEN:
                raise Overtaken from refused
            raise


def reference_of(session_id: str) -> str:
    """Return the application's reference of the conversation: not the one that a recorder would name."""
    is_plain = session_id.isprintable() and session_id.strip() == session_id and len(session_id) <= 200
    digest = sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"agents:{session_id}" if is_plain else f"agents:sha256-{digest}"


def busy() -> SessionRefused:
    return SessionRefused(409, "overtaken", "others write into this session without end")


def _registry_in(message: dict[str, Any]) -> Registry | None:
    """Return what a message says of the branches, if it is a marker."""
    for part in message["parts"]:
        if part["provider_type"] == MARKER and part["block"]:
            value = json.loads(part["block"])
            return Registry.from_json(value) if is_marker(value) else None
    return None


def seq_of(message_id: str) -> int:
    return int(message_id.rpartition(".m")[2])


def _is_half_way(listed: list[Any]) -> bool:
    is_marked = bool(listed) and is_marker(listed[-1])
    return is_marked and Registry.from_json(listed[-1]).target is not None


def _may_be_marker(node: dict[str, Any]) -> bool:
    return node["parent_id"] is None and bool(node["is_hidden"])
