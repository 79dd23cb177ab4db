"""The recorder that the environment names: for an application that needs one and no more."""

import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from counterfoil_recorder.recorder import Recorder

C = TypeVar("C")
P = ParamSpec("P")
T = TypeVar("T")

_lock = threading.Lock()
_made: list[Recorder] = []


def recorder() -> Recorder:
    """Return the application's recorder, made at the first call; ConfigurationError where it cannot be."""
    with _lock:
        if not _made:
            _made.append(Recorder.from_environment())
        return _made[0]


def record(http_client: C, *, provider: str = "") -> C:
    """Watch the client that an SDK is to take as `http_client`, and return it."""
    return recorder().record(http_client, provider=provider)


def flush(timeout: float = 10.0) -> bool:
    """Wait until everything that waits is in the store; return whether it is."""
    return recorder().flush(timeout)


def before_effect(timeout: float = 10.0) -> None:
    """Return once the store holds every call of this scope; StoreUnavailable where it does not."""
    recorder().before_effect(timeout)


def effectful(function: Callable[P, T]) -> Callable[P, T]:
    """Return the tool's function so that `before_effect` comes before it."""
    return recorder().effectful(function)
