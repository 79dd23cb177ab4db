"""Between an HTTP client and its transport: calls to models are watched, everything else passes.

The client's own transport does the work. What it raises goes on to the caller unchanged; what goes
wrong in here goes to the log and nowhere else.
"""

from collections.abc import Callable
from typing import Any, Final, Self, TypeVar

from counterfoil_recorder.attempts import Attempt
from counterfoil_recorder.dialects import dialect_of
from counterfoil_recorder.errors import ConfigurationError
from counterfoil_recorder.libraries import Library, library_of

_REDIRECTS: Final = range(300, 400)

# Never raises; None where the request cannot be recorded.
Begin = Callable[[Library, str, str, Any], Attempt | None]
C = TypeVar("C")


class _Watching:
    """What both kinds share. Behind a watched call stands `_inner`, the client's own transport."""

    def __init__(self, inner: Any, library: Library, begin: Begin, provider: str) -> None:
        self._inner = inner
        self._library = library
        self._begin = begin
        self._provider = provider

    def __getattr__(self, name: str) -> Any:
        # Some look into their transport: at its pool, at its proxy.
        return getattr(self._inner, name)

    def _attempt(self, request: Any, dialect: str) -> Attempt | None:
        return self._begin(self._library, dialect, self._provider, request)


class WatchingTransport(_Watching):
    """In place of a synchronous client's transport."""

    def __enter__(self) -> Self:
        self._inner.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._inner.__exit__(*raised)

    def close(self) -> None:
        self._inner.close()

    def handle_request(self, request: Any) -> Any:
        dialect = dialect_of(request.method, request.url.path)
        if dialect is None:
            return self._inner.handle_request(request)
        # A body that is given in pieces is read here and not while it is sent.
        request.read()
        attempt = self._attempt(request, dialect)
        if attempt is None:
            return self._inner.handle_request(request)
        try:
            response = self._inner.handle_request(request)
        except BaseException:
            attempt.ended()
            raise
        if response.status_code not in _REDIRECTS:
            attempt.answered(response)
            response.stream = self._library.sync_stream(response.stream, attempt)
        return response


class WatchingAsyncTransport(_Watching):
    """In place of an asynchronous client's transport."""

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._inner.__aexit__(*raised)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def handle_async_request(self, request: Any) -> Any:
        dialect = dialect_of(request.method, request.url.path)
        if dialect is None:
            return await self._inner.handle_async_request(request)
        await request.aread()
        attempt = self._attempt(request, dialect)
        if attempt is None:
            return await self._inner.handle_async_request(request)
        try:
            response = await self._inner.handle_async_request(request)
        except BaseException:
            attempt.ended()
            raise
        if response.status_code not in _REDIRECTS:
            attempt.answered(response)
            response.stream = self._library.async_stream(response.stream, attempt)
        return response


def watch(client: C, *, begin: Begin, provider: str) -> C:
    """Put a watching transport around each transport of the client, once, and return the client."""
    library = library_of(client)
    kind = WatchingAsyncTransport if library.is_async(client) else WatchingTransport

    def watched(transport: Any) -> Any:
        if transport is None or isinstance(transport, _Watching):
            return transport
        return kind(transport, library, begin, provider)

    inside = vars(client)
    if "_transport" not in inside or "_mounts" not in inside:
        raise ConfigurationError(
            f"this {type(client).__name__} keeps its transports where record() cannot find them"
        )
    inside["_transport"] = watched(inside["_transport"])
    # Those that go through a proxy.
    inside["_mounts"] = {pattern: watched(transport) for pattern, transport in inside["_mounts"].items()}
    return client
