"""The levers under /sandbox/: the clock, faults, what banks do, and the whole of the books.

None of this exists on the real service. Bodies and answers are JSON; the API key is asked for too.
"""

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from samples.processor import deliveries, disputes, endpoints, faults, refunds, statements
from samples.processor.call import Call
from samples.processor.clock import parse_moment
from samples.processor.errors import ApiError, Body
from samples.processor.ids import mint
from samples.processor.money import CURRENCIES
from samples.processor.routes import SCHEDULED
from samples.processor.scheduled import run_due
from samples.processor.wire import Reply, Request, json_reply

if TYPE_CHECKING:
    from samples.processor.application import Application

Lever = Callable[["Application", Body, str], Body]

KINDS = [
    "payment_intent",
    "charge",
    "refund",
    "dispute",
    "event",
    "balance_transaction",
    "customer",
    "payment_method",
    "webhook_endpoint",
]


def answer(app: "Application", request: Request) -> Reply:
    name = request.path.removeprefix("/sandbox/")
    if request.method == "GET" and name.startswith("statements/"):
        call = Call(store=app.store, now=_settle(app))
        text = statements.export(call, name.removeprefix("statements/"), request.query)
        return Reply(200, text, {"Content-Type": "text/csv; charset=utf-8"})
    for method, pattern, lever in LEVERS:
        match = re.fullmatch(pattern.replace("{id}", "([^/]+)"), name)
        if method == request.method and match is not None:
            try:
                done = lever(app, request.json(), match[1] if match.groups() else "")
            except (KeyError, TypeError, ValueError) as error:
                raise ApiError(f"This wish cannot be read: {type(error).__name__}: {error}") from error
            return json_reply(200, done)
    raise ApiError(f"No such lever: {request.method} {request.path}", status=404)


def show_clock(app: "Application", _: Body, __: str) -> Body:
    return {"now": app.clock.now()}


def turn_clock(app: "Application", wish: Body, _: str) -> Body:
    """`advance` seconds, or `now` to a moment; `frozen` stops it or lets it tick."""
    target = app.clock.now()
    if "now" in wish:
        target = parse_moment(wish["now"])
    if "advance" in wish:
        target += int(wish["advance"])
    app.clock.turn(to=target, is_frozen=wish.get("frozen"))
    _settle(app)
    app.sender.wake()
    return {"now": target}


def ask_for_fault(app: "Application", wish: Body, _: str) -> Body:
    faults.ask(app.store, wish)
    return show_faults(app, {}, "")


def show_faults(app: "Application", _: Body, __: str) -> Body:
    return {"faults": app.store.rows("SELECT * FROM fault WHERE times > 0 ORDER BY seq")}


def drop_faults(app: "Application", _: Body, __: str) -> Body:
    return {"dropped": app.store.run("DELETE FROM fault")}


def open_dispute(app: "Application", wish: Body, _: str) -> Body:
    with app.store.transaction():
        return disputes.open_dispute(
            _by_itself(app),
            str(wish.get("charge", "")),
            amount=wish.get("amount"),
            reason=wish.get("reason", "fraudulent"),
            is_inquiry=bool(wish.get("inquiry", False)),
        )


def close_dispute(app: "Application", wish: Body, dispute_id: str) -> Body:
    with app.store.transaction():
        return disputes.finish_dispute(_by_itself(app), dispute_id, status=str(wish.get("status")))


def fail_refund(app: "Application", wish: Body, refund_id: str) -> Body:
    with app.store.transaction():
        reason = wish.get("reason", "expired_or_canceled_card")
        return refunds.fail_refund(_by_itself(app), refund_id, reason)


def refund_in_dashboard(app: "Application", wish: Body, _: str) -> Body:
    """A refund that somebody made by hand: its event names a request, but no key."""
    values: Body = {
        name: wish[name] for name in ("charge", "payment_intent", "amount", "reason") if name in wish
    }
    refunds.check_target(values)
    with app.store.transaction():
        call = Call(store=app.store, now=_settle(app), values=values, request_id=mint("req_", 14))
        return refunds.create_refund(call)


def send_webhooks_to(app: "Application", wish: Body, _: str) -> Body:
    """A webhook endpoint that signs with the secret this sandbox was started with."""
    with app.store.transaction():
        return endpoints.add_endpoint(
            _by_itself(app),
            url=str(wish.get("url", "")),
            enabled_events=wish.get("enabled_events", ["*"]),
            secret=app.webhook_secret,
        )


def flush_webhooks(app: "Application", wish: Body, _: str) -> Body:
    return {"tries": app.sender.flush(release_held=bool(wish.get("release_held", True)))}


def set_settlement(app: "Application", wish: Body, _: str) -> Body:
    """Convert charges into one currency: {"currency": "usd", "rates": {"eur": "1.08"}}."""
    rates = {str(code): str(rate) for code, rate in wish.get("rates", {}).items()}
    if not {wish.get("currency"), *rates} <= CURRENCIES:
        raise ApiError("Unknown currency.", param="currency")
    try:
        good = all(Decimal(rate) > 0 for rate in rates.values())
    except InvalidOperation:
        good = False
    if not good:
        raise ApiError("A rate is a positive decimal, written as text.", param="rates")
    settlement = {"currency": wish["currency"], "rates": rates}
    app.store.set_setting("settlement", settlement)
    return settlement


def set_search_lag(app: "Application", wish: Body, _: str) -> Body:
    app.store.set_setting("search_lag", int(wish["seconds"]))
    return {"seconds": int(wish["seconds"])}


def show_books(app: "Application", _: Body, __: str) -> Body:
    """Everything, oldest first: what a test compares the ledger with."""
    now = _settle(app)
    return {
        "now": now,
        **{f"{kind}s": app.store.all(kind) for kind in KINDS},
        "idempotency_keys": app.store.rows("SELECT * FROM idempotency_key ORDER BY created_at, key"),
        "requests": app.store.rows("SELECT * FROM request ORDER BY seq"),
        "deliveries": app.store.rows("SELECT * FROM delivery ORDER BY seq"),
        "scheduled": app.store.rows("SELECT * FROM scheduled ORDER BY due_at, seq"),
    }


def show_requests(app: "Application", _: Body, __: str) -> Body:
    return {"requests": app.store.rows("SELECT * FROM request ORDER BY seq")}


def show_deliveries(app: "Application", _: Body, __: str) -> Body:
    return {
        "deliveries": app.store.rows("SELECT * FROM delivery ORDER BY seq"),
        "next_due": deliveries.next_due(app.store, now=app.clock.now()),
    }


def reset(app: "Application", wish: Body, _: str) -> Body:
    """Empty books and a clock at `now`, if given, else at the real time."""
    with app.store.transaction():
        app.store.clear()
        if "now" in wish:
            app.clock.start_at(parse_moment(wish["now"]), is_frozen=bool(wish.get("frozen", False)))
    return {"now": app.clock.now()}


def _settle(app: "Application") -> int:
    """Let happen what is due, then tell the time."""
    now = app.clock.now()
    run_due(app.store, SCHEDULED, now=now)
    return now


def _by_itself(app: "Application") -> Call:
    return Call(store=app.store, now=_settle(app))


LEVERS: list[tuple[str, str, Lever]] = [
    ("GET", "clock", show_clock),
    ("POST", "clock", turn_clock),
    ("GET", "faults", show_faults),
    ("POST", "faults", ask_for_fault),
    ("DELETE", "faults", drop_faults),
    ("POST", "disputes", open_dispute),
    ("POST", "disputes/{id}/close", close_dispute),
    ("POST", "refunds", refund_in_dashboard),
    ("POST", "refunds/{id}/fail", fail_refund),
    ("POST", "webhooks", send_webhooks_to),
    ("GET", "webhooks", show_deliveries),
    ("POST", "webhooks/flush", flush_webhooks),
    ("POST", "settlement", set_settlement),
    ("POST", "search", set_search_lag),
    ("GET", "books", show_books),
    ("GET", "requests", show_requests),
    ("POST", "reset", reset),
]
