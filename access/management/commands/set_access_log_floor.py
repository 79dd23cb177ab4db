from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from access.models.log import LogFloor


class Command(BaseCommand):
    help = "Set for how many days the access log is kept at least; only the owner's connection may."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("days", type=int, help="30 or more")

    def handle(self, *args: Any, days: int, **options: Any) -> None:
        if days < 30:
            raise CommandError("The access log is kept for 30 days or more.")
        LogFloor.objects.using("owner").update(days=days)
        self.stdout.write(f"The access log is kept for at least {days} days.")
