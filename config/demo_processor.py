"""The sandbox processor beside a demo, where no key of a real one is given.

So that asking, sweeping, refunding and reconciling have something to talk to. It is a process like
the others and ends with them; its books are one file, which tell what the sample company's ledger does.
"""

import importlib.util
import ipaddress
import os
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path

from config import embedded, env, ports

PORT = 12111


@dataclass(frozen=True, slots=True)
class DemoProcessor:
    """Where it will listen; the port is held from the first step of the set-up to its start."""

    held: ports.Held
    api_key: str
    webhook_secret: str
    books: Path

    @property
    def port(self) -> int:
        return self.held.port

    def command(self, *, host: str, port: int) -> list[str]:
        """Return how it is started, at once; it sends its events to the server that listens there."""
        self.held.release()
        web = f"http://{_reached_at(host)}:{port}"
        return [
            *(sys.executable, "-m", "samples.processor", "--port", str(self.port)),
            *("--data", str(self.books), "--api-key", self.api_key),
            *("--webhook-url", f"{web}/webhooks/stripe", "--webhook-secret", self.webhook_secret),
        ]

    def write_books(self, *, is_new: bool) -> None:
        """Have books: written anew for a new database, kept for one that was there.

        A new one has its first reconciliation queued, so that there are findings to look at.
        """
        from django.core.management import call_command
        from django.utils import timezone

        from jobs.services.starting import start_job

        if is_new or not self.books.exists():
            call_command("write_sandbox_books", self.books)
        if is_new:
            start_job(kind="ledger.reconcile_daily", requested_by=("job", ""), now=timezone.now())


def _reached_at(host: str) -> str:
    """A server that listens everywhere is reached on this machine."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host or "127.0.0.1"
    if address.is_unspecified:
        return "127.0.0.1"
    return f"[{address}]" if address.version == 6 else str(address)


def arrange() -> DemoProcessor | None:
    """Name it in the environment, before settings are read; None where none is wanted or there is none."""
    is_demo = env.flag("COUNTERFOIL_DEMO", default=False)
    if not is_demo or os.environ.get("STRIPE_API_KEY") or importlib.util.find_spec("samples") is None:
        return None
    processor = DemoProcessor(
        held=ports.hold(preferred=PORT),
        api_key=f"sk_test_{secrets.token_hex(12)}",
        webhook_secret=f"whsec_{secrets.token_hex(16)}",
        books=embedded.VAR / "demo" / "processor.sqlite3",
    )
    os.environ |= {
        "STRIPE_API_KEY": processor.api_key,
        "STRIPE_API_BASE": f"http://127.0.0.1:{processor.port}",
        "STRIPE_WEBHOOK_SECRET": processor.webhook_secret,
    }
    return processor
