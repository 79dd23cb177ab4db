"""One request from beginning to end: who asks, which fault it meets, its key, its rule, its answer."""

import base64
import json
import logging
import time
from dataclasses import dataclass
from pathlib import Path

from samples.processor import API_VERSION, control, faults, idempotency
from samples.processor.call import Call
from samples.processor.clock import Clock
from samples.processor.errors import ApiError, Body, something_broke
from samples.processor.faults import Fault, Taken
from samples.processor.ids import mint
from samples.processor.parameters import read
from samples.processor.presenting import present
from samples.processor.routes import SCHEDULED, Route, resolve
from samples.processor.scheduled import run_due
from samples.processor.storage import Store
from samples.processor.webhooks import Sender
from samples.processor.wire import Cut, Reply, Request, json_reply

logger = logging.getLogger(__name__)

CUTS: dict[Fault, Cut] = {
    Fault.CUT_BEFORE: "before",
    Fault.ANSWER_LOST: "silent",
    Fault.ANSWER_CUT: "midway",
}


@dataclass
class Turn:
    """What one request has come to so far; kept for the list of requests."""

    request: Request
    request_id: str
    key: str | None = None
    fault: Taken | None = None
    outcome: str = "refused"

    def meets(self, kind: Fault) -> bool:
        return self.fault is not None and self.fault.kind is kind


class Application:
    def __init__(self, data: Path, *, api_key: str, webhook_secret: str) -> None:
        self.store = Store(data)
        self.clock = Clock(self.store)
        self.sender = Sender(self.store, self.clock)
        self.webhook_secret = webhook_secret
        self._api_key = api_key
        idempotency.forget_all_running(self.store)

    def close(self) -> None:
        self.sender.stop()
        self.store.close()

    def handle(self, request: Request) -> Reply:
        turn = Turn(request=request, request_id=mint("req_", 14))
        try:
            self._authenticate(request)
            if request.path.startswith("/sandbox/"):
                return control.answer(self, request)
            run_due(self.store, SCHEDULED, now=self.clock.now())
            reply = self._answer(turn)
        except ApiError as error:
            reply = json_reply(error.status, error.body, error.headers)
        except Exception:
            # The sandbox itself is at fault: say so where its operator looks, answer as a server does.
            logger.exception("request %s failed", turn.request_id)
            reply = json_reply(500, something_broke().body)
        if turn.fault is not None:
            reply.cut = CUTS.get(turn.fault.kind, "")
        reply.headers |= {"Request-Id": turn.request_id, "Stripe-Version": API_VERSION}
        if turn.key is not None:
            reply.headers["Idempotency-Key"] = turn.key
        self._log(turn, reply)
        self.sender.wake()
        return reply

    def _authenticate(self, request: Request) -> None:
        """The key as bearer, or as the user of basic authentication, as Stripe takes it."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme == "Basic":
            given = _user_of(given)
        if not given:
            raise ApiError(
                "You did not provide an API key. You need to provide your API key in the Authorization "
                "header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
                status=401,
            )
        if given != self._api_key:
            raise ApiError(f"Invalid API Key provided: {given[:8]}***", status=401)

    def _answer(self, turn: Turn) -> Reply:
        request = turn.request
        route, object_id = resolve(request.method, request.path)
        turn.fault = faults.take_for_request(self.store, method=request.method, path=request.path)
        if turn.meets(Fault.CUT_BEFORE):
            turn.outcome = "not begun"
            return json_reply(503, {})
        if turn.meets(Fault.CONFLICT):
            raise idempotency.in_use(request.headers.get("idempotency-key", ""))
        if request.method == "POST":
            turn.key = idempotency.key_of(request)
        if turn.key is None:
            return self._execute(turn, route, object_id)
        saved = idempotency.begin(
            self.store, key=turn.key, request=request, request_id=turn.request_id, now=self.clock.now()
        )
        if saved is not None:
            turn.outcome = "replayed"
            return json_reply(
                saved.status,
                saved.body,
                {"Idempotent-Replayed": "true", "Original-Request": saved.request_id},
            )
        try:
            return self._execute(turn, route, object_id)
        finally:
            # Only what never began is still running here.
            idempotency.forget(self.store, key=turn.key)

    def _execute(self, turn: Turn, route: Route, object_id: str) -> Reply:
        values = read(turn.request.form, route.fields)
        if route.check is not None:
            route.check(values)
        self._dawdle(turn, when="before")
        with self.store.transaction():
            call = Call(
                store=self.store,
                now=self.clock.now(),
                values=values,
                object_id=object_id,
                request_id=turn.request_id,
                key=turn.key,
            )
            status, body, headers = self._outcome(turn, route, call)
            if turn.key is not None:
                idempotency.finish(self.store, key=turn.key, status=status, body=body)
        turn.outcome = "executed" if status < 400 else "failed"
        self._dawdle(turn, when="after")
        return json_reply(status, body, headers)

    def _outcome(self, turn: Turn, route: Route, call: Call) -> tuple[int, Body, dict[str, str]]:
        """Run the rule. A refusal takes its writes back, unless they are the outcome."""
        broken = something_broke()
        if turn.meets(Fault.ERROR_500) and turn.fault and not turn.fault.options["executed"]:
            return broken.status, broken.body, broken.headers
        kept: ApiError | None = None
        try:
            with self.store.transaction():
                try:
                    body = present(call, route.endpoint(call))
                except ApiError as error:
                    if not error.keeps_writes:
                        raise
                    kept = error
        except ApiError as error:
            return error.status, error.body, error.headers
        if turn.meets(Fault.ERROR_500):
            return broken.status, broken.body, broken.headers
        return (200, body, {}) if kept is None else (kept.status, kept.body, kept.headers)

    def _dawdle(self, turn: Turn, *, when: str) -> None:
        if turn.meets(Fault.SLOW) and turn.fault and turn.fault.options["when"] == when:
            time.sleep(turn.fault.options["seconds"])

    def _log(self, turn: Turn, reply: Reply) -> None:
        request = turn.request
        self.store.run(
            "INSERT INTO request (id, at, method, path, key, params, status, outcome, fault)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            turn.request_id,
            self.clock.now(),
            request.method,
            request.path,
            request.headers.get("idempotency-key"),
            json.dumps(request.pairs),
            reply.status,
            turn.outcome,
            None if turn.fault is None else turn.fault.kind,
        )


def _user_of(credentials: str) -> str:
    try:
        return base64.b64decode(credentials).decode("utf-8", "replace").partition(":")[0]
    except ValueError:
        return ""
