"""`manage.py record_exchanges FILE`: put recorded provider calls into the store, one JSON object a line."""

from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from access.actors import Actor, ActorKind
from access.models import Realm
from conversations.errors import StoreError
from conversations.models import Account
from conversations.services.accounts import ensure_account
from conversations.services.recording import RecordedExchange, record_exchange
from conversations.services.recording.lines import LineError, read_lines

type Line = dict[str, Any] | LineError

RECORDER = Actor(kind=ActorKind.IMPORTER)


class Command(BaseCommand):
    help = (
        "Record provider calls from a file of JSON lines. A line has request_body and response_body as"
        " strings, path or dialect, response_status, and may have exchange_id, conversation_id, request_id,"
        " api_version, beta_headers, prompt_version, provider_request_id, started_at, first_token_at and"
        " finished_at."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--realm", required=True, help="the slug of the realm")
        parser.add_argument("--account", required=True, help="the realm's own id for the customer")

    def handle(self, *args: Any, **options: Any) -> None:
        realm = Realm.objects.filter(slug=options["realm"]).first()
        if realm is None:
            raise CommandError(f"There is no realm {options['realm']}.")
        if not options["file"].is_file():
            raise CommandError(f"{options['file']}: there is no such file")
        try:
            account = ensure_account(realm=realm, external_id=options["account"], now=timezone.now())
        except StoreError as error:
            raise CommandError(str(error)) from error
        with options["file"].open("rb") as file:
            refused = self._record(account, read_lines(file))
        if refused:
            raise CommandError(f"{refused} lines could not be read.")

    def _record(self, account: Account, lines: Iterable[tuple[int, Line]]) -> int:
        """Record line by line; say what is wrong with a line, and count those."""
        refused = 0
        for place, line in lines:
            try:
                if isinstance(line, LineError):
                    raise line
                exchange = record_exchange(account=account, actor=RECORDER, now=timezone.now(), **line)
            except (LineError, StoreError) as error:
                refused += 1
                self.stderr.write(f"line {place}: {error}")
            else:
                self.stdout.write(describe(place, exchange))
        return refused


def describe(place: int, exchange: RecordedExchange) -> str:
    known = "known already, " if exchange.was_known else ""
    return (
        f"line {place}: conversation {exchange.conversation_id}, attempt {exchange.generation_number}:"
        f" {known}{exchange.match}, {exchange.status}, body {exchange.proof}"
    )
