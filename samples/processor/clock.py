"""The sandbox's own time, in whole seconds: it ticks or stands still, and turns forward only.

Key lifetimes, retries of webhooks, the events' window and search's lag are lived through on it.
"""

import time
from datetime import datetime

from samples.processor.errors import ApiError, Body
from samples.processor.storage import Store


class Clock:
    def __init__(self, store: Store) -> None:
        self._store = store

    def now(self) -> int:
        state: Body = self._store.setting("clock", {"offset": 0, "frozen_at": None})
        frozen_at = state["frozen_at"]
        return int(frozen_at) if frozen_at is not None else int(time.time()) + int(state["offset"])

    def start_at(self, moment: int, *, is_frozen: bool) -> None:
        """Any moment, also a past one: for a sandbox whose books are still empty."""
        if self._store.row("SELECT 1 FROM object LIMIT 1"):
            raise ApiError("The clock turns forward only once there are objects.")
        self._set(moment, is_frozen=is_frozen)

    def turn(self, *, to: int, is_frozen: bool | None = None) -> int:
        """Go to `to`; return the moment. Going back would let expired keys live again."""
        state: Body = self._store.setting("clock", {"offset": 0, "frozen_at": None})
        if to < self.now():
            raise ApiError(f"The clock turns forward only: it is {self.now()}, not before {to}.")
        stands = state["frozen_at"] is not None if is_frozen is None else is_frozen
        self._set(to, is_frozen=stands)
        return to

    def _set(self, moment: int, *, is_frozen: bool) -> None:
        offset = moment - int(time.time())
        self._store.set_setting("clock", {"offset": offset, "frozen_at": moment if is_frozen else None})


def parse_moment(value: object) -> int:
    """A Unix time, or ISO 8601 with its zone."""
    if isinstance(value, bool):
        raise ApiError("A moment is a number of seconds or ISO 8601.")
    if isinstance(value, int):
        return value
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise ApiError(f"Not a moment: {value}") from error
    if moment.tzinfo is None:
        raise ApiError(f"This moment lacks its zone: {value}")
    return int(moment.timestamp())
