"""`manage.py export_conversations`: a selection as JSON lines, trees or request bodies."""

import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from access.models import Realm
from conversations.management.asking import add_asker, asker
from conversations.services.exporting import (
    ExportFailure,
    export_next_bodies,
    export_sent_bodies,
    export_trees,
    select_conversations,
)
from conversations.services.importing.report import ExitStatus
from conversations.services.recorded_export import Line, export_recorded
from conversations.vocabulary import Dialect, Source
from conversations.wire.literals import readable_copy


class Command(BaseCommand):
    help = (
        "Write conversations as JSON lines: whole trees, which import again to equal rows; the body that "
        "going on from each head would send; or the bodies that were sent. Who took what out stands in the "
        "access log, and the console's jobs page shows the run. Exits with 2 if some could not."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--what", choices=["trees", "next", "sent"], default="trees")
        parser.add_argument("--output", type=Path, help="a file; without it, standard output")
        parser.add_argument("--realm", default="", help="slug of the realm")
        parser.add_argument("--account", default="", help="the realm's own id of the customer")
        parser.add_argument("--source", choices=Source.values, default="")
        parser.add_argument("--since", type=_moment, help="last activity at or after this time (ISO 8601)")
        parser.add_argument("--until", type=_moment, help="last activity before this time (ISO 8601)")
        parser.add_argument("--conversation", type=UUID, action="append", default=[], metavar="ID")
        parser.add_argument("--dialect", choices=Dialect.values, help="for --what next: in this dialect")
        parser.add_argument("--model", default="", help="for --what next: where no attempt names one")
        add_asker(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        realm = Realm.objects.filter(slug=options["realm"]).first() if options["realm"] else None
        if options["realm"] and realm is None:
            raise CommandError(f"there is no realm {options['realm']!r}")
        asked_by = asker(options["by"])
        selection = select_conversations(
            realm_slug=options["realm"],
            account=options["account"],
            source=options["source"],
            since=options["since"],
            until=options["until"],
            ids=options["conversation"],
        )
        with ExitStack() as stack:
            output = _open(options["output"], stack)

            def write(line: Line) -> None:
                if isinstance(line, ExportFailure):
                    self.stderr.write(f"not exported: {line.place}: {line.reason}")
                else:
                    output.write(line)

            exported = export_recorded(
                selection=selection,
                lines=_lines(options, selection),
                write=write,
                told=_told(options, realm),
                asked_by=asked_by,
                now=timezone.now(),
                unit="attempts" if options["what"] == "sent" else "conversations",
            )
            output.flush()
        self.stderr.write(f"kept as run {exported.run_id}")
        if exported.failures or not exported.is_whole:
            sys.exit(ExitStatus.PARTIAL)


def _told(options: dict[str, Any], realm: Realm | None) -> dict[str, Any]:
    """The selection as the run's page shows it; what was not said is left out."""
    told = {
        "what": options["what"],
        "output": readable_copy(options["output"].name) if options["output"] else "standard output",
        "realm": realm.slug if realm else "",
        "realm_id": realm.pk if realm else None,
        "account": readable_copy(options["account"]),
        "source": options["source"],
        "since": options["since"].isoformat() if options["since"] else "",
        "until": options["until"].isoformat() if options["until"] else "",
        "conversations": [str(pk) for pk in options["conversation"]],
    }
    return {name: value for name, value in told.items() if value}


def _lines(options: dict[str, Any], selection: Any) -> Iterator[bytes | ExportFailure]:
    if options["what"] == "trees":
        return export_trees(selection)
    if options["what"] == "sent":
        return export_sent_bodies(selection)
    dialect = Dialect(options["dialect"]) if options["dialect"] else None
    return export_next_bodies(selection, dialect=dialect, model=options["model"])


def _open(path: Path | None, stack: ExitStack) -> IO[bytes]:
    if path is None:
        return sys.stdout.buffer
    try:
        return stack.enter_context(path.open("xb"))
    except FileExistsError:
        raise CommandError(f"{path} exists; an export never overwrites") from None
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text} is no time in ISO 8601") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
