"""The HTTP library that a client belongs to: `httpx2`, or `httpx` under older SDKs.

They are the same library before and after its new name, and their objects do not mix: a stream
must be of the class that its client checks for. So the few classes that are needed are made for
the library that the client came from.
"""

import sys
from collections.abc import Iterable
from functools import cache
from types import ModuleType
from typing import Any

from counterfoil_recorder.errors import ConfigurationError
from counterfoil_recorder.streams import AsyncWatched, SyncWatched


class Library:
    """Made once for each library, by `library_of`."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self.sync_stream: Any = type("WatchedStream", (SyncWatched, module.SyncByteStream), {})
        self.async_stream: Any = type("WatchedAsyncStream", (AsyncWatched, module.AsyncByteStream), {})

    def is_async(self, client: object) -> bool:
        return isinstance(client, self._module.AsyncClient)

    def decoded(self, chunks: Iterable[bytes], *, encodings: str) -> bytes:
        """Undo the content encodings, as the client does for its caller.

        Of a body that was cut off, as much as can be told.
        """
        raw = b"".join(chunks)
        if not encodings:
            return raw
        response = self._module.Response(
            200, headers={"content-encoding": encodings}, stream=self._module.ByteStream(raw)
        )
        pieces: list[bytes] = []
        try:
            for piece in response.iter_bytes():
                pieces.append(piece)
        except self._module.DecodingError:
            pass
        return b"".join(pieces)


def library_of(client: object) -> Library:
    """Return the library of an HTTP client; ConfigurationError where it is neither of the two."""
    for kind in type(client).__mro__:
        module = sys.modules.get(kind.__module__.partition(".")[0])
        if module is not None and hasattr(module, "AsyncByteStream") and hasattr(module, "SyncByteStream"):
            return _made(module)
    raise ConfigurationError(f"record() takes a client of httpx2 or httpx, not {type(client).__name__}")


_made = cache(Library)
