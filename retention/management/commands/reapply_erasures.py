"""Erase again who was erased: to be run after a restore, before the site is opened."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from retention.services.reapplying import read_erased, reapply_erasures
from retention.vocabulary import RequestState


class Command(BaseCommand):
    help = "Find erased people in a restored database by their keyed digests, and erase them again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--list", type=Path, help="a list by export_erased, newer than the backup")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        if options["list"] is not None:
            try:
                with options["list"].open() as lines:
                    self.stdout.write(f"{read_erased(lines, now=now)} digests that the backup did not know")
            except (OSError, ValueError) as error:
                raise CommandError(str(error)) from error
        reapplied = reapply_erasures(now=now)
        self.stdout.write(f"{reapplied.accounts} accounts of erased people found")
        for request in reapplied.requests:
            self.stdout.write(f"{request.number}: {request.get_state_display()}")
            for step in request.steps.exclude(cause="").order_by("place"):
                self.stdout.write(f"  {step.name}: {step.cause}")
        if any(request.state != RequestState.DONE for request in reapplied.requests):
            raise CommandError("Some of it is still here: see the requests on the erasure desk.")
