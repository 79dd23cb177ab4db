"""The sandbox processor against localstripe, by the same calls of Stripe's own SDK.

localstripe is a public stand-in for Stripe that other people wrote. Where both know a call, the
fields of the answer that a ledger reads must agree. What localstripe does not know is counted, and
is the reason why the sandbox exists.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import stripe

from samples.processor.process import run_processor

READ_BY_THE_LEDGER = (
    "object",
    "amount",
    "amount_capturable",
    "amount_captured",
    "amount_received",
    "amount_refunded",
    "captured",
    "currency",
    "email",
    "fee",
    "livemode",
    "metadata",
    "net",
    "paid",
    "refunded",
    "reporting_category",
    "status",
    "type",
)
# Where localstripe leaves out what the real service is documented to do.
SIMPLER_THERE = {
    ("customer", "currency"): "set at once, not with the first invoice",
    ("charge", "metadata"): "not copied from the intent",
    ("balance_transaction", "fee"): "no fees",
    ("balance_transaction", "net"): "no fees",
    ("balance_transaction", "status"): "available at once",
    ("/v1/events", "length"): "not every change has its event",
}
CARD = "pm_card_visa"
START_SECONDS = 20

Answers = dict[str, Any]
Step = Callable[[Any, Answers], Any]


def _intent(api: Any, made: Answers, **more: Any) -> Any:
    params = {"amount": 2000, "currency": "usd", "customer": made["customer"].id, "payment_method": CARD}
    return api.payment_intents.create({**params, **more})


def _latest_charge(made: Answers) -> str:
    """localstripe expands it without being asked to."""
    charge = made["intent retrieved"].latest_charge
    return charge if isinstance(charge, str) else str(charge.id)


def _same_key_twice(api: Any, _: Answers) -> Any:
    params = {"amount": 700, "currency": "usd", "payment_method": CARD, "confirm": True}
    first, second = (api.payment_intents.create(params, {"idempotency_key": "k-1"}) for _ in range(2))
    if first.id != second.id:
        raise LookupError("one key made two payments")
    return second


STEPS: dict[str, Step] = {
    "customer": lambda api, made: api.customers.create(
        {"email": "rosa@example.com", "metadata": {"account": "a-1"}}
    ),
    "customer again": lambda api, made: api.customers.retrieve(made["customer"].id),
    "payment method": lambda api, made: api.payment_methods.attach(CARD, {"customer": made["customer"].id}),
    "intent": lambda api, made: _intent(api, made, metadata={"effect": "e-1"}),
    "intent confirmed": lambda api, made: api.payment_intents.confirm(made["intent"].id),
    "intent retrieved": lambda api, made: api.payment_intents.retrieve(made["intent"].id),
    "charge": lambda api, made: api.charges.retrieve(_latest_charge(made)),
    "charges of the customer": lambda api, made: api.charges.list({"customer": made["customer"].id}),
    "balance row of the charge": lambda api, made: api.balance_transactions.retrieve(
        made["charge"].balance_transaction
    ),
    "intent paid at once": lambda api, made: _intent(api, made, confirm=True),
    "refund by the SDK": lambda api, made: api.refunds.create({"charge": made["charge"].id, "amount": 500}),
    "charge after the refund": lambda api, made: api.charges.retrieve(made["charge"].id),
    "refunds of the charge": lambda api, made: api.refunds.list({"charge": made["charge"].id}),
    "held intent": lambda api, made: _intent(api, made, capture_method="manual", confirm=True),
    "held intent captured": lambda api, made: api.payment_intents.capture(made["held intent"].id),
    "waiting intent": _intent,
    "waiting intent canceled": lambda api, made: api.payment_intents.cancel(made["waiting intent"].id),
    "intent that is not there": lambda api, made: api.payment_intents.retrieve("pi_nothing"),
    "intents of the customer": lambda api, made: api.payment_intents.list({"customer": made["customer"].id}),
    "same key twice": _same_key_twice,
    "search": lambda api, made: api.charges.search({"query": "status:'succeeded'"}),
    "disputes": lambda api, made: api.disputes.list(),
    "events": lambda api, made: api.events.list(),
}


@dataclass
class Server:
    name: str
    api: Any
    made: Answers = field(default_factory=dict)

    def take(self, name: str, step: Step) -> str:
        """Run the step; return why there is no answer, or nothing."""
        try:
            self.made[name] = step(self.api, self.made)
        except stripe.StripeError as error:
            return f"{error.http_status or 'no answer'}"
        except (KeyError, LookupError, AttributeError) as error:
            return f"{type(error).__name__}: {error}"
        return ""


def main(arguments: list[str]) -> int:
    program = os.environ.get("LOCALSTRIPE_BIN") or shutil.which("localstripe")
    if program is None:
        sys.stderr.write(
            "No localstripe on this machine: `pip install localstripe`, or name it by LOCALSTRIPE_BIN.\n"
        )
        return 1
    with run_processor() as processor, _localstripe(program) as url:
        ours = Server("sandbox", processor.client().v1)
        theirs = Server("localstripe", _client(url).v1)
        counts = dict.fromkeys(("agree", "simpler there", "not there", "differ"), 0)
        for name, step in STEPS.items():
            verdict, detail = _compare(name, step, ours, theirs)
            counts[verdict] += 1
            print(f"{name:28} {verdict:20} {detail}")
    print(", ".join(f"{number} {verdict}" for verdict, number in counts.items()))
    return 1 if counts["differ"] else 0


def _compare(name: str, step: Step, ours: Server, theirs: Server) -> tuple[str, str]:
    refused_here, refused_there = ours.take(name, step), theirs.take(name, step)
    if refused_here and refused_there:
        return "agree" if refused_here == refused_there else "differ", f"{refused_here} / {refused_there}"
    if refused_there:
        return "not there", refused_there
    if refused_here:
        return "differ", f"refused by the sandbox only: {refused_here}"
    mine, other = ours.made[name].to_dict(), theirs.made[name].to_dict()
    kind = mine["url"] if mine["object"] == "list" else mine["object"]
    pairs = {one: (mine[one], other[one]) for one in READ_BY_THE_LEDGER if one in mine and one in other}
    if mine["object"] == "list":
        pairs["length"] = len(mine["data"]), len(other["data"])
    apart = {one: pair for one, pair in pairs.items() if pair[0] != pair[1]}
    if all((kind, one) in SIMPLER_THERE for one in apart):
        reasons = {SIMPLER_THERE[kind, one] for one in apart}
        return ("simpler there", ", ".join(sorted(reasons))) if apart else ("agree", f"{len(pairs)} fields")
    return "differ", "; ".join(f"{one}: {here!r} / {there!r}" for one, (here, there) in apart.items())


def _client(url: str) -> stripe.StripeClient:
    return stripe.StripeClient("sk_test_12345", base_addresses={"api": url}, max_network_retries=0)


@contextmanager
def _localstripe(program: str) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [program, "--port", str(port), "--from-scratch"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError("localstripe did not start")
