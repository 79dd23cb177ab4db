"""Reading on while the reader's consumer waits for the database."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Final, Self

MAX_ITEMS: Final = 256


class ReadAhead[T]:
    """Runs an iterator in a thread and hands its items on, in order; an error comes where it arose.

    At most `max_weight` of what `weigh` says is held, and always one item. The
    thread touches no database. Leaving the context stops it.
    """

    def __init__(self, source: Iterator[T], *, weigh: Callable[[T], int], max_weight: int) -> None:
        self._source = source
        self._weigh = weigh
        self._max_weight = max_weight
        self._items: deque[tuple[T, int]] = deque()
        self._weight = 0
        self._is_done = False
        self._is_left = False
        self._changed = threading.Condition()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="read-ahead")
        self._outcome: Future[None] | None = None

    def __enter__(self) -> Self:
        self._outcome = self._thread.submit(self._run)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._changed:
            self._is_left = True
            self._changed.notify_all()
        self._thread.shutdown()

    def __iter__(self) -> Iterator[T]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._items or self._is_done)
                if not self._items:
                    break
                item, weight = self._items.popleft()
                self._weight -= weight
                self._changed.notify_all()
            yield item
        if self._outcome is not None:
            self._outcome.result()

    def _run(self) -> None:
        try:
            for item in self._source:
                if not self._put(item):
                    break
        finally:
            with self._changed:
                self._is_done = True
                self._changed.notify_all()

    def _put(self, item: T) -> bool:
        weight = self._weigh(item)
        with self._changed:
            self._changed.wait_for(lambda: self._is_left or self._has_room(weight))
            if self._is_left:
                return False
            self._items.append((item, weight))
            self._weight += weight
            self._changed.notify_all()
            return True

    def _has_room(self, weight: int) -> bool:
        if not self._items:
            return True
        return len(self._items) < MAX_ITEMS and self._weight + weight <= self._max_weight
