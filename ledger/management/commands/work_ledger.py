"""The ledger's jobs by hand: sweep, send refunds, work on events, pull a window."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from access.actors import Actor, ActorKind
from ledger.models import WebhookEvent
from ledger.processors import STRIPE
from ledger.services import events, pulling, refunding, sweeping

DUTIES = ("sweep", "refunds", "events", "pull")


class Command(BaseCommand):
    help = "Do the ledger's work once, now, and say what came of each item."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("duty", choices=DUTIES, nargs="*", help="what to do; without one, all")
        parser.add_argument("--hours", type=int, default=72, help="how far back to pull (default 72)")

    def handle(self, *args: Any, **options: Any) -> None:
        for duty in options["duty"] or DUTIES:
            getattr(self, f"_{duty}")(options["hours"])

    def _sweep(self, hours: int) -> None:
        now, actor = timezone.now(), Actor(ActorKind.JOB, "work_ledger")
        for effect in sweeping.due(now=now):
            self._say("effect", effect.pk, sweeping.look(effect_id=effect.pk, actor=actor, now=now))

    def _refunds(self, hours: int) -> None:
        now, actor = timezone.now(), Actor(ActorKind.JOB, "work_ledger")
        for refund in refunding.due(now=now):
            word = refunding.send_refund(compensation_id=refund.pk, actor=actor, now=now)
            self._say("refund", refund.pk, word)

    def _events(self, hours: int) -> None:
        now = timezone.now()
        for event in WebhookEvent.objects.filter(processed_at=None).order_by("received_at"):
            worked = events.work_event(event_id=event.pk, now=now)
            self._say("event", event.event_id, worked.trouble or "settled")

    def _pull(self, hours: int) -> None:
        now = timezone.now()
        counts = pulling.pull(processor=STRIPE, since=now - timedelta(hours=hours), until=now, now=now)
        self.stdout.write(f"pulled {counts['seen']} events of {hours} hours, {counts['new']} new")

    def _say(self, what: str, which: object, word: str) -> None:
        self.stdout.write(f"{what} {which}: {word}")
