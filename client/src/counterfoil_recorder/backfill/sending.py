"""Several senders, each with lanes of its own: calls of one lane arrive in the order of the file.

A lane always goes to the same sender, so a call overtakes only what it has nothing to do with. What
waits is bounded in number and in bytes; the reader of the file waits for it.
"""

import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from zlib import crc32

from counterfoil_recorder.backfill.calls import Call
from counterfoil_recorder.store import Answer, Refused, Store, Stored, Unavailable
from counterfoil_recorder.waits import scattered

log = logging.getLogger(__name__)

_WAITING_EACH: Final = 32
_WAITING_BYTES: Final = 128 << 20
_FIRST_WAIT: Final = 0.2
_LONGEST_WAIT: Final = 30.0

# What became of a call: "recorded", "known" or "refused", and why it was refused.
Settle = Callable[[str, str], None]


class StoreGone(Exception):
    """The store did not take a call for as long as the run is patient."""


@dataclass(frozen=True, slots=True)
class _Work:
    call: Call
    settle: Settle


class Senders:
    """As many threads as calls may be in flight; each with a connection of its own."""

    def __init__(self, make_store: Callable[[], Store], *, in_flight: int, patience: float) -> None:
        self._patience = patience
        self._room = _Room(_WAITING_BYTES)
        self._queues: list[queue.Queue[_Work | None]] = [queue.Queue(_WAITING_EACH) for _ in range(in_flight)]
        self._gone = ""
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._send_all, args=(make_store(), mine), daemon=True)
            for mine in self._queues
        ]
        for thread in self._threads:
            thread.start()

    def hand_over(self, call: Call, settle: Settle) -> None:
        """Wait for room and queue the call; StoreGone where the run has ended.

        `settle` is called in another thread.
        """
        self._room.take(call.parcel.size)
        mine = self._queues[crc32(call.lane.encode("utf-8", "surrogatepass")) % len(self._queues)]
        while True:
            self.check()
            try:
                mine.put(_Work(call, settle), timeout=0.2)
            except queue.Full:
                continue
            return

    def check(self) -> None:
        if self._gone:
            raise StoreGone(self._gone)

    def finish(self) -> None:
        """Wait until all is settled; StoreGone where that will not be."""
        for mine in self._queues:
            mine.put(None)
        for thread in self._threads:
            thread.join()
        self.check()

    def abandon(self) -> None:
        """End after what is in flight; what waits is left alone."""
        self._stop.set()
        self._room.open()

    def _send_all(self, store: Store, mine: "queue.Queue[_Work | None]") -> None:
        try:
            while (work := mine.get()) is not None:
                if not self._stop.is_set():
                    self._send_or_end(store, work)
                self._room.give_back(work.call.parcel.size)
        finally:
            store.close()

    def _send_or_end(self, store: Store, work: _Work) -> None:
        """A sender that ended alone would let the reader wait for ever: all end."""
        try:
            self._send(store, work)
        except Exception as error:
            log.exception("a call could not be sent")
            self._end(f"{type(error).__name__}: {error}")

    def _send(self, store: Store, work: _Work) -> None:
        match self._answer_to(store, work.call):
            case Stored(was_known=was_known):
                work.settle("known" if was_known else "recorded", "")
            case Refused(reason=reason):
                work.settle("refused", reason)
            case Unavailable(reason=reason):
                self._end(reason)

    def _end(self, reason: str) -> None:
        self._gone = self._gone or reason
        self.abandon()

    def _answer_to(self, store: Store, call: Call) -> Answer:
        """Send until the store says yes or no; for no longer than the run is patient."""
        deadline = time.monotonic() + self._patience
        wait = _FIRST_WAIT
        while True:
            answer = store.send(call.parcel)
            if not isinstance(answer, Unavailable):
                return answer
            pause = max(answer.wait or 0.0, scattered(wait))
            if time.monotonic() + pause > deadline or self._stop.wait(pause):
                return answer
            wait = min(wait * 2, _LONGEST_WAIT)


class Settled:
    """What became of pieces of work; a later one may be settled first. Safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._what: dict[int, str] = {}
        self._begun = 0
        self._taken = 0
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> Counter[str]:
        """How many were settled how, in any order."""
        with self._lock:
            return Counter(self._counts)

    def begin(self) -> int:
        """Return the number of the next piece of work."""
        self._begun += 1
        return self._begun

    def settle(self, number: int, what: str) -> None:
        with self._lock:
            self._counts[what] += 1
            self._what[number] = what

    def take(self) -> list[str]:
        """Return how the next pieces were settled, up to the first that is not; each is returned once."""
        taken: list[str] = []
        with self._lock:
            while self._taken + 1 in self._what:
                self._taken += 1
                taken.append(self._what.pop(self._taken))
        return taken


class _Room:
    """A number of bytes that are taken and given back; one that is larger than all is let in alone."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._taken = 0
        self._changed = threading.Condition()
        self._is_open = False

    def take(self, size: int) -> None:
        with self._changed:
            self._changed.wait_for(
                lambda: self._is_open or not self._taken or self._taken + size <= self._size
            )
            self._taken += size

    def give_back(self, size: int) -> None:
        with self._changed:
            self._taken -= size
            self._changed.notify_all()

    def open(self) -> None:
        with self._changed:
            self._is_open = True
            self._changed.notify_all()
