"""`manage.py import_statement FILE... --realm SLUG`: a processor's exports, for the reconciliation."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from access.actors import Actor, ActorKind
from access.models import Realm
from conversations.errors import StoreError
from ledger.models import StatementLine
from ledger.statements.importing import Imported, Told, import_statement

_SHOWN = 20


class Command(BaseCommand):
    help = (
        "Import statements of a processor: Stripe's payments export, balance history and itemised reports, "
        "or the plain CSV of docs/statements.md. The same content twice adds nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--realm", default="", help="may be left out if there is one")
        parser.add_argument("--processor", default="", help="whose statement a plain CSV is")
        parser.add_argument("--zone", default="UTC", help="of dates that do not say their own")
        parser.add_argument("--since", default="", help="the period's begin; the first line's if not said")
        parser.add_argument("--until", default="", help="the period's end, not included")

    def handle(self, *args: Any, **options: Any) -> None:
        realm = _realm(options["realm"])
        for path in options["files"]:
            told = Told(
                name=path.name,
                processor=options["processor"],
                zone=options["zone"],
                period_start=_moment(options["since"]),
                period_end=_moment(options["until"]),
            )
            self._import(path, realm, told)

    def _import(self, path: Path, realm: Realm, told: Told) -> None:
        if not path.is_file():
            raise CommandError(f"{path}: there is no such file")
        actor = Actor(ActorKind.IMPORTER, "import_statement")
        try:
            with path.open("rb") as file:
                imported = import_statement(
                    realm=realm, file=file, told=told, actor=actor, now=timezone.now()
                )
        except StoreError as error:
            raise CommandError(str(error)) from error
        self._say(path, imported)

    def _say(self, path: Path, imported: Imported) -> None:
        statement = imported.statement
        if not imported.is_new:
            self.stdout.write(f"{path.name}: known as {statement.pk}, nothing was added")
            return
        self.stdout.write(
            f"{path.name}: {statement.get_format_display()}, {statement.line_count} lines, "
            f"{statement.skipped_count} could not be read; statement {statement.pk}"
        )
        troubled = StatementLine.objects.filter(statement=statement).exclude(trouble="").order_by("number")
        for line in troubled[:_SHOWN]:
            self.stdout.write(f"  line {line.number}: {line.trouble}")
        if statement.skipped_count > _SHOWN:
            self.stdout.write(f"  and {statement.skipped_count - _SHOWN} more")


def _realm(name: str) -> Realm:
    realms = list(Realm.objects.filter(slug=name) if name else Realm.objects.all()[:2])
    if len(realms) != 1:
        raise CommandError(
            f"there is no realm “{name}”" if name else "say --realm: there are several, or none"
        )
    return realms[0]


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        said = datetime.fromisoformat(text)
    except ValueError as error:
        raise CommandError(f"“{text}” is no date; write 2026-11-01 or 2026-11-01T00:00:00+01:00") from error
    return said if said.tzinfo else said.replace(tzinfo=UTC)
