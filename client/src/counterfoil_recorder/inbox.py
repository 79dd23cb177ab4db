"""Where callers leave their work for another thread, without waking it.

Waking a thread makes the one that wakes it give way: a call to the system, and on a busy machine
the processor with it. So a caller only appends; the thread looks again every few milliseconds while
there is something to do, and is woken only after it has slept for want of work.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

Work = Callable[[], object]

_LOOKS_EVERY: Final = 0.01
_SLEEPS_AFTER: Final = 1.0
# What a finalizer left, which must not wake anybody, waits no longer than this.
_SLEEPS_FOR: Final = 1.0


class Inbox:
    """Any thread may leave work; one takes it."""

    def __init__(self) -> None:
        self._works: deque[Work] = deque()
        self._knock = threading.Event()
        self._sleeps = False
        self._is_closed = False

    def leave(self, work: Work) -> None:
        self._works.append(work)
        if self._sleeps:
            self._knock.set()

    def leave_from_finalizer(self, work: Work) -> None:
        """Take no lock at all: a finalizer may run while its thread holds any."""
        self._works.append(work)

    def close(self) -> None:
        """Let `take` return None once everything has been taken."""
        self._is_closed = True
        self._knock.set()

    def hurry(self) -> None:
        """Somebody waits for what has been left."""
        self._knock.set()

    def take(self) -> Work | None:
        """Return the next work, when there is some; None after the end."""
        busy_until = time.monotonic() + _SLEEPS_AFTER
        while True:
            if self._works:
                return self._works.popleft()
            if self._is_closed:
                return None
            self._sleeps = time.monotonic() > busy_until
            # A second look: a caller may have appended before it could see that we sleep.
            if not self._works:
                self._knock.wait(_SLEEPS_FOR if self._sleeps else _LOOKS_EVERY)
            self._knock.clear()
            self._sleeps = False
