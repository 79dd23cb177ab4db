"""Adding to a session and taking back, as steps in the store's tree.

Adding writes below the head; taking back moves the head, and what was taken back stays on a branch.
Other processes may do the same at once: whoever is overtaken reads again and goes on from there.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from counterfoil_recorder.agents.conversation import TRIES, Conversation, Overtaken, Tail, busy, seq_of
from counterfoil_recorder.agents.items import Said, messages_of
from counterfoil_recorder.agents.store_api import SessionRefused

# What the store says of a message that it does not take as it is.
_UNFIT: Final = frozenset({400, 422})
_MOST_AT_ONCE: Final = 1_000


@dataclass(frozen=True, slots=True)
class _Group:
    """The end of a path where calls are open: its messages, and its items."""

    messages: list[dict[str, Any]]
    items: list[Any]


@dataclass(frozen=True, slots=True)
class _Root:
    """The first message is to be a root, of a path that held `known` items at the head's move `after`."""

    after: int
    known: int = 0


class Transcript:
    """Not safe for several threads; several processes may use the same session."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def add(self, items: Sequence[Any]) -> None:
        """Put items behind the last one."""
        left, unfit = list(items), set[str]()
        overtaken = 0
        while left:
            known = len(unfit)
            left = self._add(left, unfit)
            overtaken += len(unfit) == known
            if left and overtaken > TRIES:
                raise busy()

    def pop(self) -> Any | None:
        """Move the head before the last item, and return that; None where there is none."""
        unfit = set[str]()
        for _ in range(TRIES):
            tail = self._conversation.tail()
            if tail.is_empty or tail.message is None:
                return None
            own = self._items_below(tail.message["parent_id"], tail.message)
            try:
                left = self._take_back(tail, tail.message, own, unfit)
            except Overtaken:
                continue
            if left is not None:
                self.add(left)
                return own[-1]
        raise busy()

    def _take_back(
        self, tail: Tail, message: dict[str, Any], own: list[Any], unfit: set[str]
    ) -> list[Any] | None:
        """Take a message off the path; return those of its items that are to be written again.

        None where nothing has changed but `unfit`.
        """
        rest, above = own[:-1], message["parent_id"]
        if above is not None:
            self._conversation.move_to(above, after=tail.move)
            return rest
        if rest:
            left = self._write(messages_of(rest, unfit=unfit), unfit, _Root(tail.move, len(own)))
            return None if len(left) == len(rest) else left
        self._conversation.mark(self._conversation.registry().noted(None), after=tail.move)
        return []

    def _add(self, items: list[Any], unfit: set[str]) -> list[Any]:
        """Write items as far as nobody is quicker and the store takes them; return those that are left."""
        tail = self._conversation.tail()
        try:
            group = self._open_group(tail)
            if group is not None:
                return self._add_to(group, tail, items, unfit)
            messages = messages_of(items, unfit=unfit)
            if tail.registry is not None:
                return self._write(messages, unfit, _Root(tail.move))
        except Overtaken:
            return items
        return self._write(messages, unfit)

    def _add_to(self, group: _Group, tail: Tail, items: list[Any], unfit: set[str]) -> list[Any]:
        """Go on where calls are open.

        If more of the model's turn comes, or calls are passed over, the group is written anew beside
        what stands.
        """
        there = messages_of(group.items, unfit=unfit)
        wanted = messages_of([*group.items, *items], unfit=unfit)
        kept = _common(there, wanted) if len(there) == len(group.messages) else 0
        if kept == len(there):
            return self._write(wanted[kept:], unfit)
        above = group.messages[kept]["parent_id"]
        if above is None:
            left = self._write(wanted, unfit, _Root(tail.move, len(group.items)))
            # Where nothing was written, the group still stands.
            return items if len(left) == len(group.items) + len(items) else left
        self._conversation.move_to(above, after=tail.move)
        return self._write(wanted[kept:], unfit)

    def _open_group(self, tail: Tail) -> _Group | None:
        """Return the calls at the end of the path and the outputs so far; None where all are answered."""
        last = tail.message
        if last is None or tail.is_empty or last["role"] not in ("assistant", "tool"):
            return None
        messages = [last]
        if last["role"] == "tool" and last["answers_id"]:
            calls_at = seq_of(last["answers_id"])
            most = min(last["seq"] - calls_at + 1, _MOST_AT_ONCE)
            messages = [one for one in self._conversation.last_messages(most) if calls_at <= one["seq"]]
            if not messages or messages[-1]["id"] != last["id"] or messages[0]["seq"] != calls_at:
                raise Overtaken
        calls = {part["tool_call_id"] for part in messages[0]["parts"] if part["type"] == "tool_use"}
        results = {part["tool_call_id"] for one in messages[1:] for part in one["parts"]}
        if not calls - results:
            return None
        return _Group(messages, self._items_below(messages[0]["parent_id"], last))

    def _items_below(self, above: str | None, message: dict[str, Any]) -> list[Any]:
        before = self._conversation.items(above) if above else []
        return self._conversation.items(message["id"])[len(before) :]

    def _write(self, messages: Sequence[Said], unfit: set[str], root: _Root | None = None) -> list[Any]:
        """Write messages at the head; return the items that are left when it stops.

        It stops where somebody else was quicker, and at a message that the store does not take: its
        items are added to `unfit` then. Overtaken where somebody was quicker than the root.
        """
        batch = uuid.uuid4()
        for number, said in enumerate(messages):
            try:
                self._write_one(said, name=f"agents:{batch}.{number}", root=None if number else root)
            except Overtaken:
                if root is not None and number == 0:
                    raise
            except SessionRefused as refused:
                if refused.status not in _UNFIT or said.spelt <= unfit:
                    raise
                unfit |= said.spelt
            else:
                continue
            return [item for one in messages[number:] for item in one.items]
        return []

    def _write_one(self, said: Said, *, name: str, root: _Root | None) -> None:
        if root is None:
            self._conversation.append(said, name=name)
            return
        theirs = self._conversation.append_root(said, name=name, after=root.after)
        if theirs is not None:
            # Others went on below this root from one that is no longer on the path: it is brought over.
            self.add(self._conversation.items(theirs)[root.known :])


def _common(there: Sequence[Said], wanted: Sequence[Said]) -> int:
    for number, (one, other) in enumerate(zip(there, wanted, strict=False)):
        if one.blocks != other.blocks:
            return number
    return min(len(there), len(wanted))
