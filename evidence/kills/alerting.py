"""Alerts of runs that failed, by webhook and by e-mail: each is told, and under one id however often.

The receiver is a process of its own that writes down what it hears before it answers. A worker that
dies between the two is the one case in which an alert is told again; it has the same id then, by
which a receiver knows it.
"""

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.test import override_settings

from evidence.kills.story import Story, end_the_lease
from evidence.month import START
from jobs.models import JobRun, RunState
from jobs.services.starting import start_job
from ledger.models import Alert
from ledger.reconciliation.daily import send_due_alerts
from ledger.reconciliation.starting import KIND as RECONCILE

ALERTS = "ledger.send_alerts"
FAILED = 8
# Before all that other stories do: no other run has failed within a week of it, or is overdue.
NOW = START - timedelta(days=950)
_LEASE = timedelta(minutes=6)


@dataclass
class Failures:
    """Runs that failed an hour ago, and of which nobody was told."""

    heard: Path
    leases: "Synchronized[int]" = field(default_factory=lambda: multiprocessing.Value("i", 0))
    failed: list[JobRun] = field(default_factory=list)
    round: int = 0

    def story(self) -> Story:
        return Story(
            name=ALERTS,
            begin=self._begin,
            work=lambda run_id: send_due_alerts(run_id=run_id, clock=self._now),
            outcome=self._outcome,
            forget=self._forget,
            free=self._free,
        )

    def _now(self) -> datetime:
        """The time of this round, later by each lease that came to its end."""
        return NOW + timedelta(days=self.round) + self.leases.value * _LEASE

    def _begin(self) -> JobRun:
        now = self._now()
        an_hour_ago = now - timedelta(hours=1)
        self.failed = JobRun.objects.bulk_create(
            JobRun(
                id=uuid4(),
                kind=RECONCILE,
                scope=f"failed:{number}",
                state=RunState.FAILED,
                error_code="input-changed",
                queued_at=an_hour_ago,
                finished_at=an_hour_ago,
                requested_by_kind="job",
            )
            for number in range(FAILED)
        )
        return start_job(kind=ALERTS, requested_by=("job", "kill"), now=now)

    def _outcome(self, job: JobRun) -> tuple[Any, ...]:
        told = Alert.objects.filter(payload__job__in=[str(run.pk) for run in self.failed])
        told = told.exclude(sent_at=None)
        heard = self.heard.read_text().split()
        posted = {str(pk) for pk in told.filter(channel="webhook").values_list("pk", flat=True)}
        return (
            job.state,
            job.done,
            {step: sum(words.values()) for step, words in job.counts.items()},
            sorted(told.values_list("channel", "kind")),
            Alert.objects.filter(sent_at=None).count(),
            # Every one was heard, and nothing else was.
            (len(posted), set(heard) == posted),
        )

    def _forget(self) -> None:
        """No alert is ever deleted; without its run it is not written again."""
        JobRun.objects.filter(pk__in=[run.pk for run in self.failed]).delete()
        self.heard.write_text("")
        self.round += 1

    def _free(self, job: JobRun) -> int:
        self.leases.value += 1
        return end_the_lease(job)


@contextmanager
def receivers(folder: Path) -> Iterator[Path]:
    """Let alerts go to a web server that writes their ids to a file, and as e-mail into a folder."""
    heard = folder / "heard.txt"
    heard.write_text("")
    server = HTTPServer(("127.0.0.1", 0), _handler(heard))
    process = multiprocessing.get_context("fork").Process(target=server.serve_forever, daemon=True)
    process.start()
    backend = {"BACKEND": "django.core.mail.backends.filebased.EmailBackend"}
    options = {"OPTIONS": {"file_path": str(folder / "mail")}}
    try:
        with override_settings(
            ALERT_WEBHOOK_URL=f"http://127.0.0.1:{server.server_port}/",
            ALERT_WEBHOOK_SECRET="whsec_kill",  # noqa: S106 - a receiver of this process's own
            ALERT_EMAILS=["finance@example.org"],
            MAILERS={"default": {**backend, **options}},
        ):
            yield heard
    finally:
        process.terminate()
        process.join()
        server.server_close()


def _handler(heard: Path) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            with heard.open("a") as file:
                file.write(f"{self.headers['Counterfoil-Alert']}\n")
            self.send_response(204)
            self.end_headers()

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """What is heard stands in the file."""

    return Handler
