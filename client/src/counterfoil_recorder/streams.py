"""The body of an answer, passed on as it comes, and noted."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterfoil_recorder.attempts import Attempt


class _Watched:
    def __init__(self, inner: Any, attempt: "Attempt") -> None:
        self._inner = inner
        self._attempt = attempt

    def __del__(self) -> None:
        # Neither read to its end nor closed: what arrived is all there is.
        if (attempt := getattr(self, "_attempt", None)) is not None:
            attempt.abandoned()


class SyncWatched(_Watched):
    """What arrives is recorded when it ends, by itself, by an error, or because the caller closes it."""

    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self._inner:
                self._attempt.arrived(chunk)
                yield chunk
        finally:
            self._attempt.ended()

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            self._attempt.ended()


class AsyncWatched(_Watched):
    """The same for async clients; a task that is cancelled ends its answer too."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        stream = self._inner.__aiter__()
        try:
            async for chunk in stream:
                self._attempt.arrived(chunk)
                yield chunk
        finally:
            self._attempt.ended()
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()

    async def aclose(self) -> None:
        try:
            await self._inner.aclose()
        finally:
            self._attempt.ended()
