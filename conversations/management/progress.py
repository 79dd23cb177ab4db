"""A progress bar on a terminal; silence where there is none."""

import sys
import time
from typing import Final, TextIO

_WIDTH: Final = 30
_EVERY_SECONDS: Final = 0.2


class ProgressBar:
    """Shows how far a long run has come, from the bytes of its input; without a total only that it moves."""

    def __init__(self, *, label: str, total: int | None, stream: TextIO | None = None) -> None:
        self._label = label
        self._total = None if total is None else max(total, 1)
        self._stream = stream or sys.stderr
        self._is_shown = self._stream.isatty()
        self._done = 0
        self._count = 0
        self._started = time.monotonic()
        self._drawn = 0.0

    def advance(self, *, size: int, count: int) -> None:
        self._done += size
        self._count += count
        now = time.monotonic()
        if self._is_shown and now - self._drawn >= _EVERY_SECONDS:
            self._drawn = now
            self._draw(now)

    def finish(self) -> None:
        if self._is_shown:
            self._done = self._total or self._done
            self._draw(time.monotonic())
            self._stream.write("\n")

    def _draw(self, now: float) -> None:
        rate = self._count / max(now - self._started, 0.001)
        self._stream.write(f"\r{self._label} {self._share()} {self._count:,} messages, {rate:,.0f} a second")
        self._stream.flush()

    def _share(self) -> str:
        if self._total is None:
            return f"{self._done >> 20:,} MiB read,"
        share = min(self._done / self._total, 1.0)
        return f"[{('#' * int(share * _WIDTH)).ljust(_WIDTH, '.')}] {share:4.0%}"
