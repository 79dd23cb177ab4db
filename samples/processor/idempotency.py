"""Idempotency keys, as Stripe keeps them.

The first answer is saved as soon as the endpoint has begun, a 500 too, and given again for the
same request. It is not saved when parameters are refused or when the same key is still running.
A key is forgotten once it is 24 hours old: the next request under it runs as a new one.
"""

import hashlib
import json
from dataclasses import dataclass

from samples.processor.errors import IDEMPOTENCY, ApiError, Body
from samples.processor.storage import Store
from samples.processor.wire import Request

LIFE_SECONDS = 24 * 3600
MAX_LENGTH = 255


@dataclass(frozen=True)
class Saved:
    status: int
    body: Body
    request_id: str


def key_of(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and len(key) > MAX_LENGTH:
        raise ApiError(
            f"Idempotency keys may only be up to {MAX_LENGTH} characters, but yours is {len(key)} "
            "characters long."
        )
    return key or None


def begin(store: Store, *, key: str, request: Request, request_id: str, now: int) -> Saved | None:
    """Claim the key for this request, or return the answer that it already has.

    Refuses other parameters, another endpoint, and a key that is still running.
    """
    with store.transaction():
        store.run("DELETE FROM idempotency_key WHERE created_at <= ?", now - LIFE_SECONDS)
        standing = store.row("SELECT * FROM idempotency_key WHERE key = ?", key)
        if standing is None:
            store.run(
                "INSERT INTO idempotency_key (key, path, fingerprint, request_id, created_at)"
                " VALUES (?, ?, ?, ?, ?)",
                key,
                request.path,
                _fingerprint(request),
                request_id,
                now,
            )
            return None
    _refuse_other_use(standing, key=key, request=request)
    if standing["answer"] is None:
        raise in_use(key)
    return Saved(standing["status"], json.loads(standing["answer"]), standing["request_id"])


def finish(store: Store, *, key: str, status: int, body: Body) -> None:
    """Save the answer; belongs into the transaction that made it."""
    store.run(
        "UPDATE idempotency_key SET status = ?, answer = ? WHERE key = ?", status, json.dumps(body), key
    )


def forget(store: Store, *, key: str) -> None:
    """Let go of a key whose request never began."""
    store.run("DELETE FROM idempotency_key WHERE key = ? AND answer IS NULL", key)


def forget_all_running(store: Store) -> None:
    """After a crash: answer and effect are one transaction, so what has no answer did not happen."""
    store.run("DELETE FROM idempotency_key WHERE answer IS NULL")


def in_use(key: str) -> ApiError:
    return ApiError(
        "There is currently another in-progress request using this Idempotent Key (that probably means "
        f"you submitted twice, and the other request is still going through): {key}. Please try again later.",
        status=409,
        code="idempotency_key_in_use",
    )


def _refuse_other_use(standing: Body, *, key: str, request: Request) -> None:
    if standing["path"] != request.path:
        raise ApiError(
            "Keys for idempotent requests can only be used for the same endpoint they were first used for "
            f"('{request.path}' does not match the first endpoint of '{standing['path']}'). Try using a key "
            f"other than '{key}' if you meant to execute a different request.",
            kind=IDEMPOTENCY,
        )
    if standing["fingerprint"] != _fingerprint(request):
        raise ApiError(
            "Keys for idempotent requests can only be used with the same parameters they were first used "
            f"with. Try using a key other than '{key}' if you meant to execute a different request.",
            kind=IDEMPOTENCY,
        )


def _fingerprint(request: Request) -> str:
    return hashlib.sha256(json.dumps(sorted(request.pairs)).encode()).hexdigest()
