"""One HTTP attempt as it passes: what was sent, what arrives, and when."""

import logging
import uuid
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec

from counterfoil_recorder.delivery import Delivery
from counterfoil_recorder.exchanges import Parcel
from counterfoil_recorder.libraries import Library
from counterfoil_recorder.retries import Retries
from counterfoil_recorder.scopes import Scope
from counterfoil_recorder.tickets import Ticket

log = logging.getLogger(__name__)
P = ParamSpec("P")

# The only headers that are kept: the first two of what was sent, the third of what came back.
_API_VERSION: Final = ("anthropic-version", "openai-version")
_BETA: Final = ("anthropic-beta", "openai-beta")
_PROVIDER_REQUEST: Final = ("request-id", "x-request-id", "apim-request-id")
# Azure's place for the version.
_VERSION_PARAMETER: Final = "api-version"
_FAILED: Final = 400


def facts_of(request: Any, *, dialect: str, provider: str, scope: Scope, account: str) -> dict[str, Any]:
    """Return what the store is told of a request beside its body. No header that could hold a key."""
    version = _first(request.headers, _API_VERSION)
    if not version and _VERSION_PARAMETER.encode() in request.url.query:
        version = request.url.params.get(_VERSION_PARAMETER, "")
    return {
        "exchange_id": uuid.uuid4().hex,
        "dialect": dialect,
        "account": _known({"external_id": account, "label": scope.label, "email": scope.email}),
        "conversation": scope.conversation_id,
        "external_ref": scope.conversation,
        "request_id": scope.request_id,
        "prompt_version": scope.prompt_version,
        "provider": provider,
        "api_version": version,
        "beta_headers": _first(request.headers, _BETA),
    }


def _harmless(
    method: Callable[Concatenate["Attempt", P], None],
) -> Callable[Concatenate["Attempt", P], None]:
    """Whatever fails in the recorder is the recorder's trouble: the call goes on."""

    @wraps(method)
    def guarded(attempt: "Attempt", /, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(attempt, *args, **kwargs)
        except Exception:
            log.exception("the recorder failed; the call goes on")
            attempt.delivery.count_failure()

    return guarded


class Attempt:
    """Collects one exchange, and hands it over once. None of its methods raises."""

    def __init__(
        self,
        *,
        delivery: Delivery,
        retries: Retries,
        library: Library,
        scope: Scope,
        request_body: bytes,
        facts: dict[str, Any],
    ) -> None:
        self.delivery = delivery
        self._retries = retries
        self._library = library
        self._scope = scope
        self._request_body = request_body
        self._facts = facts
        self._size = len(request_body)
        self._chunks: list[bytes] | None = None
        self._encodings = ""
        self._is_stream = False
        self._is_over = False
        self._facts["started_at"] = _now()

    @property
    def exchange_id(self) -> str:
        return str(self._facts["exchange_id"])

    @_harmless
    def answered(self, response: Any) -> None:
        """Note the head of the answer; its body is still to arrive."""
        self._facts["http_status"] = response.status_code
        self._facts["provider_request_id"] = _first(response.headers, _PROVIDER_REQUEST)
        self._encodings = response.headers.get("content-encoding", "")
        self._is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        self._chunks = []

    @_harmless
    def arrived(self, chunk: bytes) -> None:
        """Note bytes of the answer as they came over the wire, still compressed if they were."""
        if self._chunks is None:
            return
        if self._is_stream and not self._chunks:
            self._facts["first_token_at"] = _now()
        self._chunks.append(chunk)
        self._size += len(chunk)
        if self._size > self.delivery.limits.exchange_bytes:
            self._give_up()

    @_harmless
    def ended(self) -> None:
        """Hand the exchange over: the answer is whole, or this is all that will arrive of it."""
        if self._is_over:
            return
        self._is_over = True
        self._facts["finished_at"] = _now()
        if self._facts.get("http_status", _FAILED) >= _FAILED:
            account = self._facts["account"]["external_id"]
            self._retries.failed(self.exchange_id, account=account, body=self._request_body)
        ticket = self.delivery.hand_over(self.exchange_id, size=self._size, make=self._parcel)
        self._scope.tracker.add(ticket)

    def abandoned(self) -> None:
        """End in another thread: a finalizer may run while this one holds any lock."""
        if not self._is_over:
            self.delivery.run_later(self.ended)

    def _parcel(self, order: int, ticket: Ticket) -> Parcel:
        body = None
        if self._chunks is not None:
            body = self._library.decoded(self._chunks, encodings=self._encodings)
        return Parcel(
            order=order,
            exchange_id=self.exchange_id,
            facts=_known(self._facts),
            request_body=self._request_body,
            response_body=body,
            ticket=ticket,
        )

    def _give_up(self) -> None:
        self._is_over = True
        self._chunks = None
        ticket = Ticket(self.exchange_id)
        self._scope.tracker.add(ticket)
        self.delivery.lose(ticket, f"it has more than {self.delivery.limits.exchange_bytes:,} bytes")


def _known(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value != ""}


def _first(headers: Any, names: Iterable[str]) -> str:
    return next((value for name in names if (value := headers.get(name))), "")


def _now() -> str:
    return datetime.now(UTC).isoformat()
