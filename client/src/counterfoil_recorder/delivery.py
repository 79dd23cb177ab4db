"""From the application's memory to the store: two threads behind every recorder.

A caller only puts an exchange into the inbox. The *keeper* takes it out, decodes the answer, and
lays the exchange ready in memory, or on disk: while the store is down, or when half of the memory
is taken. The *sender* sends what is oldest, from memory or disk, one after the other: the store
must have a call before the next call of its conversation. What the store cannot take now goes to
disk and is tried again, first after a moment, then ever more seldom.

Disk and network are touched by these two threads only. Nothing is lost without a count and a line.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from counterfoil_recorder.counts import Counts
from counterfoil_recorder.exchanges import Parcel
from counterfoil_recorder.holding import Holding, Limits, Waiting
from counterfoil_recorder.inbox import Inbox
from counterfoil_recorder.spool import Spool
from counterfoil_recorder.store import Answer, Refused, Store, Stored, Unavailable
from counterfoil_recorder.tickets import Outcome, Ticket, wait_for
from counterfoil_recorder.waits import scattered

log = logging.getLogger(__name__)

_FIRST_WAIT: Final = 0.2
_LONGEST_WAIT: Final = 30.0
# While somebody waits for the store, it is asked more often.
_LONGEST_WAIT_OF_SOMEBODY: Final = 0.5
_ADOPT_EVERY: Final = 60.0
# After so many failures of one exchange, while the store is up, the others go first.
_PATIENCE: Final = 5
# At the end a thread may still hang, in a request or a write; the process waits no longer than this.
_LAST_WAIT: Final = 0.5

Maker = Callable[[int, Ticket], Parcel]


class Delivery:
    """The two threads and the counts. The threads run from the beginning."""

    def __init__(self, *, store: Store, spool: Path | None, limits: Limits, spool_first: bool) -> None:
        self.store = store
        self._spool_first = spool_first
        self._changed = threading.Condition(threading.Lock())
        self._holding = Holding(
            changed=self._changed,
            spool=None if spool is None else Spool(spool, largest=limits.spool_bytes),
            limits=limits,
        )
        self._inbox = Inbox()
        self._open: dict[str, Ticket] = {}
        self._counts: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._is_up = True
        self._has_looked = False
        self._waiting = 0
        self._is_hurried = False
        self._is_closed = False
        self._is_ending = False
        self._keeper = threading.Thread(target=self._keep, name="counterfoil-keeper", daemon=True)
        self._sender = threading.Thread(target=self._deliver, name="counterfoil-sender", daemon=True)
        self._keeper.start()
        self._sender.start()

    @property
    def limits(self) -> Limits:
        return self._holding.limits

    def hand_over(self, exchange_id: str, *, size: int, make: Maker) -> Ticket:
        """Take an exchange of about `size` bytes, which `make` makes in the keeper's thread."""
        ticket = Ticket(exchange_id)
        with self._changed:
            self._counts["handed_over"] += 1
            order = None if self._is_closed else self._holding.reserve(size)
            if order is not None:
                self._open[exchange_id] = ticket
                # With the lock held: the inbox is closed behind it, and not in between.
                self._inbox.leave(partial(self._lay_down, order, size, make, ticket))
        if order is None:
            self.lose(ticket, "the recorder is closed" if self._is_closed else "memory and spool are full")
        return ticket

    def run_later(self, work: Callable[[], object]) -> None:
        """Let the keeper do something; may be called from a finalizer."""
        self._inbox.leave_from_finalizer(work)

    def lose(self, ticket: Ticket, reason: str) -> None:
        """Count an exchange that the store will never have, and say so."""
        log.error("exchange %s is lost: %s", ticket.exchange_id, reason)
        self._settle(ticket, Outcome.DROPPED)

    def count_failure(self) -> None:
        with self._changed:
            self._counts["failures"] += 1

    def counts(self) -> Counts:
        with self._changed:
            return Counts(**self._counts, spooled=self._holding.spooled)

    def waiting(self) -> list[Ticket]:
        """Return the tickets of what was handed over and is still on its way."""
        with self._changed:
            return list(self._open.values())

    def wait_for(self, tickets: list[Ticket], *, seconds: float) -> bool:
        """Try at once to have the tickets settled; return whether they are within the time."""
        with self._changed:
            self._waiting += 1
            self._is_hurried = True
            self._changed.notify_all()
        self._inbox.hurry()
        try:
            return wait_for(tickets, seconds=seconds)
        finally:
            with self._changed:
                self._waiting -= 1

    def wait_until_empty(self, *, seconds: float) -> bool:
        """Wait until nothing waits any more, neither of this process nor of those it took over."""
        deadline = time.monotonic() + seconds
        self.wait_for(self.waiting(), seconds=seconds)
        with self._changed:
            return self._changed.wait_for(
                lambda: self._has_looked and not (self._open or self._holding.has_work()),
                max(0.0, deadline - time.monotonic()),
            )

    def close(self, *, seconds: float) -> None:
        """Take nothing more, send what can be sent within the time, and leave the rest on disk."""
        with self._changed:
            if self._is_closed:
                return
            self._is_closed = True
        deadline = time.monotonic() + seconds
        self._inbox.close()
        self._keeper.join(max(_LAST_WAIT, seconds))
        self.wait_for(self.waiting(), seconds=deadline - time.monotonic())
        with self._changed:
            self._is_ending = True
            self._changed.notify_all()
        self._sender.join(_LAST_WAIT)
        for parcel in self._holding.memory_to_disk():
            self.lose(parcel.ticket, "the process ends, and there is no disk to keep it on")
        if not self._sender.is_alive():
            self._holding.close()
            self.store.close()

    def abandon_in_child(self) -> None:
        """After a fork: threads, and what they held, stayed with the parent."""
        if self._holding.spool is not None:
            self._holding.spool.forget_in_child()

    # The keeper.

    def _keep(self) -> None:
        while (work := self._inbox.take()) is not None:
            try:
                work()
            except Exception:
                log.exception("the recorder failed in the background")
                self.count_failure()

    def _lay_down(self, order: int, size: int, make: Maker, ticket: Ticket) -> None:
        try:
            parcel = make(order, ticket)
        except Exception as error:
            log.exception("exchange %s could not be made ready", ticket.exchange_id)
            self.count_failure()
            self._holding.release(size)
            self.lose(ticket, f"it could not be made ready: {error}")
            return
        if parcel.size > self.limits.exchange_bytes:
            self._holding.release(size)
            self.lose(ticket, f"it has {parcel.size:,} bytes; the limit is {self.limits.exchange_bytes:,}")
            return
        self._holding.lay_down(parcel, reserved=size, on_disk=self._spool_first or not self._is_up)

    # The sender.

    def _deliver(self) -> None:
        failed = 0
        self._look_round()
        while not self._is_ending:
            try:
                waiting = self._holding.oldest()
                if waiting is None:
                    self._wait_for_work()
                else:
                    answer = self.store.send(waiting.parcel)
                    failed = self._act_on(answer, waiting, failed)
            except Exception:
                log.exception("the recorder failed in the background")
                self.count_failure()
                self._pause(1.0)

    def _act_on(self, answer: Answer, waiting: Waiting, failed: int) -> int:
        """Do what the answer asks for; return how many times in a row the store was unavailable."""
        match answer:
            case Stored():
                self._note_up()
                self._holding.take_away(waiting)
                self._settle(waiting.parcel.ticket, Outcome.STORED)
                return 0
            case Refused():
                self._note_up()
                self._refuse(waiting, answer)
                return 0
            case Unavailable():
                self._put_off(waiting, answer, failed)
                return failed + 1

    def _refuse(self, waiting: Waiting, refused: Refused) -> None:
        if refused.must_vanish:
            self._holding.take_away(waiting)
            what = "it is deleted"
        elif self._holding.set_aside(waiting, refused.reason):
            what = "it is kept in the spool's folder of refused ones"
        else:
            what = "there is no disk to keep it on"
        log.error("the store refuses exchange %s (%s): %s", waiting.parcel.exchange_id, refused.reason, what)
        self._settle(waiting.parcel.ticket, Outcome.REFUSED)

    def _put_off(self, waiting: Waiting, why: Unavailable, failed: int) -> None:
        if self._is_up:
            log.warning("the store takes no exchanges now (%s); they wait", why.reason)
        self._is_up = False
        exchange_id = waiting.parcel.exchange_id
        self._failures[exchange_id] += 1
        if self._failures[exchange_id] >= _PATIENCE and self.store.is_up():
            log.warning("the store fails on exchange %s (%s); others go first", exchange_id, why.reason)
            self._holding.move_back(waiting)
        self._holding.memory_to_disk()
        usual = min(_FIRST_WAIT * 2.0 ** min(failed, 10), _LONGEST_WAIT)
        self._pause(why.wait or scattered(usual))

    def _wait_for_work(self) -> None:
        with self._changed:
            came = self._changed.wait_for(
                lambda: self._holding.has_work() or self._is_ending, timeout=_ADOPT_EVERY
            )
        if not came:
            self._look_round()

    def _look_round(self) -> None:
        """Take over what processes that have ended left behind."""
        try:
            self._holding.adopt()
        except Exception:
            log.exception("the recorder failed in the background")
            self.count_failure()
        with self._changed:
            self._has_looked = True
            self._changed.notify_all()

    def _pause(self, seconds: float) -> None:
        """Wait before the next try; not long while somebody waits for it."""
        began = time.monotonic()
        with self._changed:
            while not (self._is_hurried or self._is_ending):
                longest = min(seconds, _LONGEST_WAIT_OF_SOMEBODY) if self._waiting else seconds
                left = began + longest - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            self._is_hurried = False

    def _note_up(self) -> None:
        if not self._is_up:
            log.info("the store takes exchanges again")
        self._is_up = True

    def _settle(self, ticket: Ticket, outcome: Outcome) -> None:
        with self._changed:
            self._open.pop(ticket.exchange_id, None)
            self._failures.pop(ticket.exchange_id, None)
            self._counts[outcome.value] += 1
            self._changed.notify_all()
        ticket.settle(outcome)
