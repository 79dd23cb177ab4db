"""Whose call it is: set around the code that makes it, read when the request is sent.

The scope is a context variable. Async tasks and `asyncio.to_thread` inherit it; a thread that the
application starts itself does not, unless the function is wrapped in `carried`.
"""

import contextvars
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import ParamSpec, TypeVar

from counterfoil_recorder.tickets import Tracker

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scope:
    """What the store is told of a call beside its bodies. Empty means unknown."""

    account: str = ""
    label: str = ""
    email: str = ""
    conversation: str = ""
    conversation_id: str = ""
    prompt_version: str = ""
    request_id: str = ""
    tracker: Tracker = field(default_factory=Tracker, compare=False, repr=False)


_current: contextvars.ContextVar[Scope | None] = contextvars.ContextVar("counterfoil_scope", default=None)


def current_scope() -> Scope | None:
    return _current.get()


@contextmanager
def recording(
    *,
    account: str | None = None,
    label: str | None = None,
    email: str | None = None,
    conversation: str | None = None,
    conversation_id: str | None = None,
    prompt_version: str | None = None,
    request_id: str | None = None,
) -> Iterator[Scope]:
    """Say whose calls are made inside: what is not given is taken from the scope around it.

    `account` is your own id for the customer, `conversation` your own for the conversation
    (`conversation_id` is the store's, where you have kept that); `request_id` names the user's
    action and stays the same over its retries. With another account, what the scope around says of
    a customer and a conversation no longer holds.
    """
    outer = _current.get() or Scope()
    if account is not None and account != outer.account:
        outer = replace(outer, label="", email="", conversation="", conversation_id="", request_id="")
    if conversation is not None or conversation_id is not None:
        outer = replace(outer, conversation="", conversation_id="")
    if conversation and conversation_id:
        raise ValueError("give your own id of the conversation or the store's, not both")
    # The tracker is the outermost scope's: an effect may come of any call inside it.
    inner = replace(
        outer,
        account=outer.account if account is None else account,
        label=outer.label if label is None else label,
        email=outer.email if email is None else email,
        conversation=outer.conversation if conversation is None else conversation,
        conversation_id=outer.conversation_id if conversation_id is None else conversation_id,
        prompt_version=outer.prompt_version if prompt_version is None else prompt_version,
        request_id=outer.request_id if request_id is None else request_id,
    )
    token = _current.set(inner)
    try:
        yield inner
    finally:
        _leave(token)


def _leave(token: contextvars.Token[Scope | None]) -> None:
    try:
        _current.reset(token)
    except ValueError:
        # A web framework may run the end of a generator in another context than its beginning.
        # That context never had this scope, so there is nothing to take back.
        pass


def carried(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function bound to the scope of this moment, for another thread to run.

    Safe to run in several threads at once.
    """
    scope = _current.get()

    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        token = _current.set(scope)
        try:
            return function(*args, **kwargs)
        finally:
            _current.reset(token)

    return run
