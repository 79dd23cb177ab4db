from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from samples.company.ledger import load_ledger
from samples.company.load import DatabaseInUseError, load_company


class Command(BaseCommand):
    help = "Load the sample company, Wendelmere Travel, into an empty database."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--today",
            type=_day,
            default=None,
            help="tell the stories as of this day (YYYY-MM-DD); without it, as of now",
        )
        parser.add_argument(
            "--crowd", type=int, default=200, help="how many ordinary conversations beside the told ones"
        )
        parser.add_argument(
            "--without-ledger", action="store_true", help="leave out what the stories' tools did"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        today = options["today"] or datetime.now(UTC)
        try:
            loaded = load_company(today=today, crowd_size=options["crowd"])
        except DatabaseInUseError as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(
            f"Loaded {len(loaded.conversations)} conversations, {loaded.exchanges} exchanges with models, "
            f"and {loaded.imported} conversations from other systems' files."
        )
        if not options["without_ledger"]:
            ledger = load_ledger(today=today)
            self.stdout.write(
                f"{ledger.effects} effects of their tools, {len(ledger.open)} with an outcome nobody knows."
            )


def _day(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d").replace(hour=9, tzinfo=UTC)
