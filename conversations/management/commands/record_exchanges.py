"""`manage.py record_exchanges FILE`: put recorded provider calls into the store, one JSON object a line."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from access.actors import Actor, ActorKind
from access.models import Realm
from conversations.services.accounts import ensure_account
from conversations.services.recording import RecordedExchange, record_exchange
from conversations.services.recording.lines import LineError, read_lines


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
        now = timezone.now()
        account = ensure_account(realm=realm, external_id=options["account"], now=now)
        actor = Actor(kind=ActorKind.IMPORTER)
        refused = 0
        with options["file"].open("rb") as file:
            for place, line in read_lines(file):
                if isinstance(line, LineError):
                    refused += 1
                    self.stderr.write(f"line {place}: {line}")
                    continue
                exchange = record_exchange(account=account, actor=actor, now=timezone.now(), **line)
                self.stdout.write(describe(place, exchange))
        if refused:
            raise CommandError(f"{refused} lines could not be read.")


def describe(place: int, exchange: RecordedExchange) -> str:
    known = "known already, " if exchange.was_known else ""
    return (
        f"line {place}: conversation {exchange.conversation_id}, attempt {exchange.generation_number}:"
        f" {known}{exchange.match}, {exchange.status}, body {exchange.proof}"
    )
