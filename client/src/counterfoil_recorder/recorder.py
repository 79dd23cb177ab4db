"""The recorder of one application: its store, its spool, its two threads."""

import asyncio
import atexit
import functools
import inspect
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar, cast

from counterfoil_recorder.attempts import Attempt, facts_of
from counterfoil_recorder.counts import Counts
from counterfoil_recorder.delivery import Delivery
from counterfoil_recorder.errors import ConfigurationError, StoreUnavailable
from counterfoil_recorder.holding import Limits
from counterfoil_recorder.libraries import Library
from counterfoil_recorder.retries import Retries
from counterfoil_recorder.scopes import Scope, current_scope
from counterfoil_recorder.store import Store
from counterfoil_recorder.tickets import Outcome, Tracker
from counterfoil_recorder.transports import watch

log = logging.getLogger(__name__)
C = TypeVar("C")
P = ParamSpec("P")
T = TypeVar("T")

_AT_EXIT_SECONDS = 3.0


class Recorder:
    """Records what goes through the clients given to `record`, and sends it to one store.

    `url` and `key` are the store's address and a key with the scope “write” (a key belongs to one
    realm). `spool` is a folder of the application's own where exchanges wait while the store is
    down; with None they wait in memory only, and what does not fit or is left at the end is lost.
    `account` is whose the calls outside of every `recording(...)` are. With `spool_first` every
    exchange is on disk before it is sent, so that it outlives a killed process.
    """

    def __init__(
        self,
        *,
        url: str,
        key: str,
        spool: str | os.PathLike[str] | None,
        account: str = "unattributed",
        timeout: float = 10.0,
        spool_first: bool = False,
        limits: Limits | None = None,
    ) -> None:
        if spool_first and spool is None:
            raise ConfigurationError("spool_first needs a folder to spool to")
        self._unscoped = Scope(account=account)
        self._account = account
        self._retries = Retries()
        self._make = functools.partial(
            _deliver_to,
            url=url,
            key=key,
            spool=None if spool is None else Path(spool),
            timeout=timeout,
            spool_first=spool_first,
            limits=limits or Limits(),
        )
        self._made: Delivery | None = None
        self._making = threading.Lock()
        try:
            self._made = self._make()
        except OSError as error:
            raise ConfigurationError(f"the spool cannot be used: {error}") from error
        _all.add(self)

    @property
    def _delivery(self) -> Delivery:
        """The threads of this process; those of a forked one begin with its first call."""
        if self._made is None:
            with self._making:
                if self._made is None:
                    self._made = self._make()
        return self._made

    @classmethod
    def from_environment(cls) -> Self:
        """Make one of COUNTERFOIL_URL, COUNTERFOIL_KEY and COUNTERFOIL_SPOOL."""
        names = ("COUNTERFOIL_URL", "COUNTERFOIL_KEY", "COUNTERFOIL_SPOOL")
        if missing := [name for name in names if not os.environ.get(name)]:
            raise ConfigurationError(
                f"the environment lacks {', '.join(missing)}; or make a Recorder yourself"
            )
        url, key, spool = (os.environ[name] for name in names)
        return cls(url=url, key=key, spool=spool)

    def record(self, http_client: C, *, provider: str = "") -> C:
        """Watch the client that an SDK is to take as `http_client`, and return it.

        `provider` names who answers where it is not the format's own inventor (`groq`, `azure`).
        """
        return watch(http_client, begin=self._begin, provider=provider)

    def counts(self) -> Counts:
        return self._delivery.counts()

    def flush(self, timeout: float = 10.0) -> bool:
        """Wait until everything that waits is in the store; return whether it is.

        What the store refused, or what was lost, is not waited for: `counts` tells of it.
        """
        return self._delivery.wait_until_empty(seconds=timeout)

    def before_effect(self, timeout: float = 10.0) -> None:
        """Return once the store holds every call of this scope; to be called before a tool acts on the world.

        Raises StoreUnavailable where it does not within the time, or where one was refused or lost:
        then do not act. Answers that are still arriving are not waited for. Outside of every
        `recording(...)` the calls of no scope are looked at, and a lost one stops one effect.
        """
        scope = current_scope() or self._unscoped
        deadline = time.monotonic() + timeout
        missing = scope.tracker.missing()
        if not missing:
            if not self._delivery.store.is_up(timeout=timeout):
                raise StoreUnavailable("the store does not answer; the effect must not begin")
            return
        self._delivery.wait_for(missing, seconds=deadline - time.monotonic())
        self._refuse_missing(scope.tracker)

    async def abefore_effect(self, timeout: float = 10.0) -> None:
        await asyncio.to_thread(self.before_effect, timeout)

    def effectful(self, function: Callable[P, T]) -> Callable[P, T]:
        """Return the tool's function, plain or async, so that `before_effect` comes before it."""
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaited(*args: Any, **kwargs: Any) -> Any:
                await self.abefore_effect()
                return await function(*args, **kwargs)

            return cast("Callable[P, T]", awaited)

        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> T:
            self.before_effect()
            return function(*args, **kwargs)

        return called

    def close(self, timeout: float = _AT_EXIT_SECONDS) -> None:
        """Send what can be sent within the time and leave the rest in the spool. Calls go on unrecorded."""
        _all.discard(self)
        if self._made is not None:
            self._made.close(seconds=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def forget_in_child(self) -> None:
        """After a fork: threads, and what they hold, stayed with the parent."""
        if self._made is not None:
            self._made.abandon_in_child()
        self._made, self._making = None, threading.Lock()
        self._unscoped = Scope(account=self._account)
        self._retries = Retries()

    def _begin(self, library: Library, dialect: str, provider: str, request: Any) -> Attempt | None:
        try:
            scope = current_scope() or self._unscoped
            account = scope.account or self._account
            body: bytes = request.content
            facts = facts_of(request, dialect=dialect, provider=provider, scope=scope, account=account)
            facts["retry_of"] = self._retries.repeated(request.headers, account=account, body=body)
            return Attempt(
                delivery=self._delivery,
                retries=self._retries,
                library=library,
                scope=scope,
                request_body=body,
                facts=facts,
            )
        except Exception:
            log.exception("the recorder failed; the call goes on unrecorded")
            # In a forked process it may be the delivery that could not be made.
            if (made := self._made) is not None:
                made.count_failure()
            return None

    def _refuse_missing(self, tracker: Tracker) -> None:
        missing = tracker.missing()
        if not missing:
            return
        if tracker is self._unscoped.tracker:
            tracker.forget_lost()
        lost = [ticket for ticket in missing if ticket.outcome is not None]
        named = ", ".join(ticket.exchange_id for ticket in (lost or missing)[:3])
        refused = any(ticket.outcome is Outcome.REFUSED for ticket in lost)
        what = "was refused by" if refused else "is lost to" if lost else "is not yet in"
        raise StoreUnavailable(f"exchange {named} {what} the store; the effect must not begin")


def _deliver_to(
    *, url: str, key: str, spool: Path | None, timeout: float, spool_first: bool, limits: Limits
) -> Delivery:
    store = Store(url=url, key=key, timeout=timeout)
    return Delivery(store=store, spool=spool, limits=limits, spool_first=spool_first)


# Those that are not closed. What is on its way must not be lost because nobody holds the recorder any more.
_all: set[Recorder] = set()


def _close_all() -> None:
    for recorder in tuple(_all):
        recorder.close()


def _forget_in_child() -> None:
    for recorder in tuple(_all):
        recorder.forget_in_child()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forget_in_child)
