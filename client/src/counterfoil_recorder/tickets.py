"""What became of each exchange that was handed over: what `flush` and `before_effect` wait for."""

import threading
import time
from collections.abc import Iterable
from enum import Enum
from typing import Final

_FEW: Final = 64


class Outcome(Enum):
    """How the way to the store ended. Only STORED means that the store has it."""

    STORED = "stored"
    REFUSED = "refused"
    DROPPED = "dropped"


class Ticket:
    """One exchange on its way; settled once."""

    __slots__ = ("_settled", "exchange_id", "outcome")

    def __init__(self, exchange_id: str) -> None:
        self.exchange_id = exchange_id
        self.outcome: Outcome | None = None
        self._settled = threading.Event()

    def settle(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self._settled.set()

    def wait(self, seconds: float) -> bool:
        return self._settled.wait(max(0.0, seconds))


class Tracker:
    """The exchanges of one scope that the store does not have: on their way, or never to come.

    It keeps no ticket that was stored, so that it stays small however long the scope lasts.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, Ticket] = {}
        self._sweep_at = _FEW

    def add(self, ticket: Ticket) -> None:
        with self._lock:
            self._open[ticket.exchange_id] = ticket
            if len(self._open) >= self._sweep_at:
                self._forget_stored()
                self._sweep_at = max(_FEW, 2 * len(self._open))

    def missing(self) -> list[Ticket]:
        """Return the tickets that are not stored, the oldest first."""
        with self._lock:
            self._forget_stored()
            return list(self._open.values())

    def forget_lost(self) -> None:
        """Speak no more of those that will never be stored."""
        with self._lock:
            self._open = {key: it for key, it in self._open.items() if it.outcome is None}

    def _forget_stored(self) -> None:
        self._open = {key: it for key, it in self._open.items() if it.outcome is not Outcome.STORED}


def wait_for(tickets: Iterable[Ticket], *, seconds: float) -> bool:
    """Wait until every ticket is settled; return whether all are within the time."""
    deadline = time.monotonic() + seconds
    return all(ticket.wait(deadline - time.monotonic()) for ticket in tickets)
