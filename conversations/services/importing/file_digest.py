"""The SHA-256 of a file, taken beside its import."""

import hashlib
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Final, Self

_AT_ONCE: Final = 1 << 20


class FileDigest:
    """Reads the file in a thread, which leaves the interpreter to others; leaving the context ends it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_left = threading.Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="file-digest")
        self._outcome: Future[str | None] | None = None

    def __enter__(self) -> Self:
        self._outcome = self._thread.submit(self._take)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_left.set()
        self._thread.shutdown()

    @property
    def so_far(self) -> str | None:
        """The digest in hexadecimal, or None while it is not taken."""
        return self._outcome.result() if self._outcome is not None and self._outcome.done() else None

    def wait(self) -> str | None:
        """Return the digest once it is taken; None where the file cannot be read."""
        return self._outcome.result() if self._outcome is not None else None

    def _take(self) -> str | None:
        digest = hashlib.sha256()
        try:
            with self._path.open("rb") as file:
                while not self._is_left.is_set():
                    if not (piece := file.read(_AT_ONCE)):
                        return digest.hexdigest()
                    digest.update(piece)
        except OSError:
            # The import meets the same, and says so.
            return None
        return None
