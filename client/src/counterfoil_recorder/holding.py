"""What waits for the store, in memory and on disk, within its bounds and oldest first."""

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from counterfoil_recorder.exchanges import Parcel
from counterfoil_recorder.spool import Spool

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """`memory_*` bound what waits in memory, `spool_bytes` what is on disk, `exchange_bytes` one exchange."""

    memory_bytes: int = 64 * 1024 * 1024
    memory_count: int = 2_000
    spool_bytes: int = 1024 * 1024 * 1024
    exchange_bytes: int = 60 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is to be sent next, and its file if it waits on disk."""

    parcel: Parcel
    path: Path | None


class Holding:
    """Exchanges between their caller and the store.

    `changed` guards the memory and is told of every arrival; callers take it for a moment. The disk
    has a lock of its own, which only the two threads of the delivery take, and take first.
    """

    def __init__(self, *, changed: threading.Condition, spool: Spool | None, limits: Limits) -> None:
        self.limits = limits
        self.spool = spool
        self.spooled = 0
        self._changed = changed
        self._disk = threading.Lock()
        self._ready: deque[Parcel] = deque()
        self._ready_bytes = 0
        self._held = 0
        self._held_bytes = 0
        self._last_order = 0
        self._first_on_disk: int | None = None
        self._trouble = ""

    # Under `changed`.

    def reserve(self, size: int) -> int | None:
        """Return the order of an exchange of about `size` bytes; None where memory has no room for it."""
        limits = self.limits
        if self._held >= limits.memory_count or self._held_bytes + size > limits.memory_bytes:
            return None
        self._held += 1
        self._held_bytes += size
        return self._next_order()

    def has_work(self) -> bool:
        return bool(self._ready) or self._first_on_disk is not None

    # In the keeper's thread, without any lock.

    def release(self, size: int) -> None:
        """Give back what was reserved for an exchange that is not to be kept in memory."""
        with self._changed:
            self._held -= 1
            self._held_bytes -= size

    def lay_down(self, parcel: Parcel, *, reserved: int, on_disk: bool) -> None:
        """Keep an exchange in memory, or on disk if that is asked for or half of the memory is taken."""
        with self._changed:
            self._held_bytes += parcel.size - reserved
            if self.spool is None or not (on_disk or self._is_half_full(parcel.size)):
                self._make_ready(parcel)
                return
        if self._to_disk(parcel) is not None:
            self.release(parcel.size)
            return
        with self._changed:
            self._make_ready(parcel)

    # In the sender's thread, without any lock.

    def oldest(self) -> Waiting | None:
        """Return the oldest exchange, which stays where it is."""
        with self._changed:
            ready = self._ready[0] if self._ready else None
            on_disk = self._first_on_disk
        if ready is not None and (on_disk is None or ready.order < on_disk):
            return Waiting(ready, None)
        if self.spool is None or on_disk is None:
            return None
        with self._disk:
            taken = self.spool.take()
            self._look_at_disk()
        return None if taken is None else Waiting(taken[1], taken[0])

    def take_away(self, waiting: Waiting) -> None:
        """Keep the exchange no longer."""
        if waiting.path is None:
            with self._changed:
                self._forget(waiting.parcel)
        elif self.spool is not None:
            with self._disk:
                self.spool.remove(waiting.path)
                self._look_at_disk()

    def set_aside(self, waiting: Waiting, reason: str) -> bool:
        """Put an exchange that the store will never take where an operator finds it, if there is a disk."""
        path = waiting.path
        if path is None:
            path = self._to_disk(waiting.parcel)
            with self._changed:
                self._forget(waiting.parcel)
        if path is None or self.spool is None:
            return False
        with self._disk:
            self.spool.set_aside(path, reason)
            self._look_at_disk()
        return True

    def move_back(self, waiting: Waiting) -> None:
        """Let all others go before this one."""
        with self._changed:
            order = self._next_order()
            if waiting.path is None:
                self._ready.remove(waiting.parcel)
                waiting.parcel.order = order
                self._ready.append(waiting.parcel)
        if waiting.path is not None and self.spool is not None:
            with self._disk:
                self.spool.move_back(waiting.path, order=order)
                self._look_at_disk()

    def memory_to_disk(self) -> list[Parcel]:
        """Write what waits in memory to disk, as far as there is one; return what could not be written."""
        with self._changed:
            parcels = list(self._ready)
        for place, parcel in enumerate(parcels):
            if self._to_disk(parcel) is None:
                return parcels[place:]
            with self._changed:
                self._forget(parcel)
        return []

    def adopt(self) -> None:
        """Take over what processes that have ended left on disk."""
        if self.spool is None:
            return
        with self._disk:
            try:
                count = self.spool.adopt()
            except OSError as error:
                log.warning("the spool cannot be read: %s", error)
                return
            self._look_at_disk()
        if count:
            log.info("%s exchanges of processes that have ended are sent from the spool", count)

    def close(self) -> None:
        if self.spool is not None:
            with self._disk:
                self.spool.close()

    def _is_half_full(self, size: int) -> bool:
        limits = self.limits
        return self._ready_bytes + size > limits.memory_bytes // 2 or len(self._ready) >= max(
            1, limits.memory_count // 2
        )

    def _next_order(self) -> int:
        # The clock, so that what is left to another process still goes in its turn.
        self._last_order = max(self._last_order + 1, time.time_ns())
        return self._last_order

    def _make_ready(self, parcel: Parcel) -> None:
        self._ready.append(parcel)
        self._ready_bytes += parcel.size
        self._changed.notify_all()

    def _forget(self, parcel: Parcel) -> None:
        self._ready.remove(parcel)
        self._ready_bytes -= parcel.size
        self._held -= 1
        self._held_bytes -= parcel.size

    def _to_disk(self, parcel: Parcel) -> Path | None:
        if self.spool is None:
            return None
        with self._disk:
            try:
                path = self.spool.put(parcel)
            except OSError as error:
                self._say_trouble(str(error))
                return None
            self.spooled += 1
            self._look_at_disk()
        self._trouble = ""
        return path

    def _look_at_disk(self) -> None:
        first = None if self.spool is None else self.spool.first
        with self._changed:
            self._first_on_disk = first
            self._changed.notify_all()

    def _say_trouble(self, trouble: str) -> None:
        if trouble != self._trouble:
            log.error("the spool takes nothing, so exchanges stay in memory: %s", trouble)
        self._trouble = trouble
