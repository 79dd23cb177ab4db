"""Starting the sandbox as a process of its own, and its levers from this side of the wire."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from samples.processor import API_KEY, SIGNING_KEY
from samples.processor.errors import Body

ROOT = Path(__file__).resolve().parents[2]
STOP_SECONDS = 5


class LeverRefusedError(Exception):
    """The sandbox said no; the message is its own."""


class Processor:
    """A running sandbox: where it is, its secrets, and what can be asked of it."""

    def __init__(self, base_url: str, *, api_key: str = API_KEY, webhook_secret: str = SIGNING_KEY) -> None:
        self.base_url = base_url
        self.api_key = api_key
        self.webhook_secret = webhook_secret

    def client(self, *, max_network_retries: int = 0) -> Any:
        """Stripe's own client, talking to this sandbox; by default it does not try again by itself."""
        import stripe  # the sandbox itself runs without the SDK

        return stripe.StripeClient(
            self.api_key,
            base_addresses={"api": self.base_url},
            max_network_retries=max_network_retries,
        )

    def pull(self, lever: str, wish: Body | None = None, *, method: str = "POST") -> Body:
        """Any lever under /sandbox/, by its name."""
        body = None if wish is None else json.dumps(wish).encode()
        answer: Body = json.loads(self._request(method, f"/sandbox/{lever}", body))
        return answer

    def now(self) -> int:
        return int(self.pull("clock", method="GET")["now"])

    def turn_clock(self, *, seconds: int) -> int:
        return int(self.pull("clock", {"advance": seconds})["now"])

    def ask_for(self, kind: str, **wish: Any) -> None:
        """One fault; see docs/sandbox.md for the kinds and what they match."""
        self.pull("faults", {"kind": kind, **wish})

    def open_dispute(self, charge: str, **wish: Any) -> Body:
        return self.pull("disputes", {"charge": charge, **wish})

    def close_dispute(self, dispute: str, *, status: str) -> Body:
        return self.pull(f"disputes/{dispute}/close", {"status": status})

    def fail_refund(self, refund: str, **wish: Any) -> Body:
        return self.pull(f"refunds/{refund}/fail", wish)

    def send_webhooks_to(self, url: str, *, enabled_events: tuple[str, ...] = ("*",)) -> Body:
        return self.pull("webhooks", {"url": url, "enabled_events": list(enabled_events)})

    def flush_webhooks(self, *, release_held: bool = True) -> int:
        """Wait until all that is due was tried; return how many tries that took."""
        return int(self.pull("webhooks/flush", {"release_held": release_held})["tries"])

    def books(self) -> Body:
        return self.pull("books", method="GET")

    def statement(self, name: str, **query: str) -> bytes:
        return self._request("GET", f"/sandbox/statements/{name}?{urlencode(query)}", None)

    def reset(self, **wish: Any) -> None:
        self.pull("reset", wish)

    def _request(self, method: str, target: str, body: bytes | None) -> bytes:
        headers = {"Authorization": f"Bearer {self.api_key}", "Content-Type": "application/json"}
        connection = HTTPConnection(self.base_url.removeprefix("http://"), timeout=60)
        try:
            connection.request(method, target, body, headers)
            response = connection.getresponse()
            answer = response.read()
        finally:
            connection.close()
        if response.status != HTTPStatus.OK:
            raise LeverRefusedError(json.loads(answer)["error"]["message"])
        return answer


class StartedProcessor(Processor):
    """One that this process started: it can be killed, and started again on the same books."""

    def __init__(self, process: subprocess.Popen[str], base_url: str, options: list[str]) -> None:
        super().__init__(base_url)
        self._process, self._options = process, options

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        """As a crash does: nothing is tidied up."""
        self._process.kill()
        self._wait()

    def start_again(self) -> None:
        """On the same port, so that clients find it."""
        port = self.base_url.rpartition(":")[2]
        self._process, self.base_url = _start([*self._options, "--port", port])

    def stop(self) -> None:
        self._process.terminate()
        self._wait()

    def _wait(self) -> None:
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(STOP_SECONDS)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


@contextmanager
def run_processor(
    *,
    data: Path | None = None,
    port: int = 0,
    clock: str | None = None,
    frozen: bool = False,
    webhook_url: str | None = None,
) -> Iterator[StartedProcessor]:
    """A sandbox in a process of its own on a free port, ended with the block or with this process."""
    options = ["--until-stdin-closes"]
    options += ["--data", str(data)] if data is not None else []
    first = ["--port", str(port)]
    first += ["--clock", clock] if clock is not None else []
    first += ["--frozen"] if frozen else []
    first += ["--webhook-url", webhook_url] if webhook_url is not None else []
    process, base_url = _start([*options, *first])
    processor = StartedProcessor(process, base_url, options)
    try:
        yield processor
    finally:
        processor.stop()


def _start(options: list[str]) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "samples.processor", *options],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    line = process.stdout.readline() if process.stdout is not None else ""
    if " on http://" not in line:
        raise RuntimeError(f"The sandbox processor did not start: exit code {process.wait(STOP_SECONDS)}")
    return process, line.rpartition(" ")[2].strip()
