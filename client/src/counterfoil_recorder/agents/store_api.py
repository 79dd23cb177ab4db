"""The store's API as a session needs it: requests that are safe to repeat, and their refusals."""

import functools
import json
import os
import time
from collections.abc import Mapping
from typing import Any, Final

import httpx2

from counterfoil_recorder.connecting import connect
from counterfoil_recorder.errors import RecorderError, StoreUnavailable
from counterfoil_recorder.waits import asked_for, scattered

_FIRST_WAIT: Final = 0.1
_LONGEST_WAIT: Final = 2.0
_TOO_MANY: Final = 429
_IN_PROGRESS: Final = "request-in-progress"


class SessionRefused(RecorderError):
    """The store does not do what a session asks of it. `rule` is its code of the reason.

    With `is_repeated`, an earlier try of the same request got no answer and may have been done.
    """

    is_repeated = False

    def __init__(self, status: int, rule: str, detail: str) -> None:
        super().__init__(f"{status} {rule}: {detail}".replace(" :", ":"))
        self.status = status
        self.rule = rule


class StoreApi:
    """Safe for several threads.

    While the store does not answer, a request is repeated for `patience` seconds: so each must be
    one that the store does once only, however often it comes.
    """

    def __init__(self, *, url: str, key: str, timeout: float, patience: float) -> None:
        self._patience = patience
        self._client = connect(
            url=url, key=key, timeout=timeout, agent="counterfoil-agents", most=32, path="/api/v1"
        )

    def get(self, path: str, **parameters: str | int) -> Any:
        return self.ask("GET", path, parameters=parameters).json()

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        return self.ask("POST", path, body=body).json()

    def ask(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        parameters: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Return an answer of success; SessionRefused or StoreUnavailable where there is none."""
        # All of it in ASCII: what is half a surrogate pair has no other spelling.
        content = None if body is None else json.dumps(body).encode()
        told = {**(headers or {}), **({"Content-Type": "application/json"} if content else {})}
        deadline = time.monotonic() + self._patience
        wait = _FIRST_WAIT
        is_repeated = False
        while True:
            try:
                response = self._client.request(
                    method, path, content=content, params=dict(parameters or {}), headers=told
                )
            except (httpx2.HTTPError, OSError) as error:
                reason, asked = f"{type(error).__name__}: {error}", 0.0
            else:
                if response.is_success:
                    return response
                refused = _refusal(response)
                refused.is_repeated = is_repeated
                if not _may_pass(refused):
                    raise refused
                reason, asked = str(refused), asked_for(response.headers) or 0.0
            pause = max(asked, scattered(wait))
            if time.monotonic() + pause > deadline:
                raise StoreUnavailable(f"the store does not answer {method} {path} ({reason})")
            time.sleep(pause)
            wait, is_repeated = min(wait * 2, _LONGEST_WAIT), True


def api_of(*, url: str, key: str, timeout: float, patience: float) -> StoreApi:
    """Return the connections to a store that all sessions of this process share."""
    return _shared(os.getpid(), url, key, timeout, patience)


@functools.lru_cache(maxsize=16)
def _shared(process: int, url: str, key: str, timeout: float, patience: float) -> StoreApi:
    # A connection must not be used on both sides of a fork: each process has its own.
    return StoreApi(url=url, key=key, timeout=timeout, patience=patience)


def _may_pass(refused: SessionRefused) -> bool:
    return refused.status >= 500 or refused.status == _TOO_MANY or refused.rule == _IN_PROGRESS


def _refusal(response: httpx2.Response) -> SessionRefused:
    rule, detail = "", response.reason_phrase
    try:
        problem = response.json()
        rule, detail = str(problem.get("rule", "")), str(problem.get("detail", detail))
    except (ValueError, AttributeError):
        pass  # another server speaks, before the store
    return SessionRefused(response.status_code, rule, detail)
