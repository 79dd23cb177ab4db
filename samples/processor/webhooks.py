"""Sending webhooks: signed, one after another, tried again later by the sandbox's clock."""

import hashlib
import hmac
import http.client
import time
from threading import Event, Lock, Thread
from urllib.parse import urlsplit

from samples.processor import deliveries
from samples.processor.call import Call
from samples.processor.clock import Clock
from samples.processor.errors import Body
from samples.processor.presenting import present
from samples.processor.storage import Store
from samples.processor.wire import encode

TIMEOUT_SECONDS = 10
PAUSE_SECONDS = 0.2


def signature(payload: bytes, *, secret: str, moment: int) -> str:
    signed = hmac.new(secret.encode(), f"{moment}.".encode() + payload, hashlib.sha256)
    return f"t={moment},v1={signed.hexdigest()}"


class Sender:
    """A thread that delivers what is due. `flush` does the same while its caller waits."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._one_at_a_time = Lock()
        self._wake, self._stop = Event(), Event()
        self._thread = Thread(target=self._run, name="webhooks", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._wake.set()
        self._thread.join(TIMEOUT_SECONDS + 1)

    def wake(self) -> None:
        self._wake.set()

    def flush(self, *, release_held: bool) -> int:
        """Deliver all that is due, then what was held back for a later event; return the tries."""
        tries = self._deliver_due()
        if release_held and deliveries.release_held(self._store):
            tries += self._deliver_due()
        return tries

    def _run(self) -> None:
        while not self._stop.is_set():
            self._deliver_due()
            self._wake.wait(PAUSE_SECONDS)
            self._wake.clear()

    def _deliver_due(self) -> int:
        tries = 0
        with self._one_at_a_time:
            while not self._stop.is_set():
                now = self._clock.now()
                delivery = deliveries.next_due(self._store, now=now)
                if delivery is None:
                    break
                status = self._send(delivery, now=now)
                deliveries.record_attempt(self._store, delivery, now=now, status=status)
                tries += 1
        return tries

    def _send(self, delivery: Body, *, now: int) -> int | str:
        endpoint = self._store.find("webhook_endpoint", delivery["endpoint_id"])
        event = self._store.find("event", delivery["event_id"])
        if endpoint is None or event is None:
            return "the endpoint is gone"
        payload = encode(present(Call(store=self._store, now=now), event))
        secret = self._store.hidden(endpoint["id"])["secret"]
        if delivery["is_forged"]:
            secret = secret[::-1]
        # The receiver compares with its own clock, which the sandbox cannot turn.
        header = signature(payload, secret=secret, moment=int(time.time()))
        return _post(endpoint["url"], payload, header)


def _post(url: str, payload: bytes, signature_header: str) -> int | str:
    """The receiver's status, or what stopped the request. Redirects are not followed."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
    target = parts.path or "/"
    if parts.query:
        target += f"?{parts.query}"
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "Stripe-Signature": signature_header,
        "User-Agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
    }
    try:
        connection.request("POST", target, payload, headers)
        response = connection.getresponse()
        response.read()
        return response.status
    except (OSError, ValueError, http.client.HTTPException) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        connection.close()
