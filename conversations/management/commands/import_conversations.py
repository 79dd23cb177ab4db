"""`manage.py import_conversations FILE... --account ID`: exports, sessions and dialogues into the store."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from access.actors import Actor
from access.models import Realm
from conversations.imports.streams import text_bytes
from conversations.management.asking import add_asker, asker
from conversations.management.progress import ProgressBar
from conversations.services.importing.recorded import Recorded, import_recorded
from conversations.services.importing.report import ExitStatus, Remark

_SHOWN: Final = 50


class Command(BaseCommand):
    help = (
        "Import conversations. The format is told by the file's shape; a file of no known format is refused. "
        "Each file is a run that the console's jobs page shows and keeps. "
        "Exits with 0 if all went in, 1 if a file was refused, 2 if something in a file could not be read."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--realm", default="", help="slug of the realm; may be left out if there is one")
        parser.add_argument(
            "--account", default="", help="whose conversations they are, by the realm's own id"
        )
        parser.add_argument("--dry-run", action="store_true", help="write, report, and roll back")
        parser.add_argument(
            "--no-originals", action="store_true", help="do not keep the records as they stood in the file"
        )
        parser.add_argument("--all-remarks", action="store_true", help="print every remark, not the first 50")
        add_asker(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        realm = _realm(options["realm"])
        asked_by = asker(options["by"])
        # Asked of all before the first goes in.
        if missing := [str(path) for path in options["files"] if not path.is_file()]:
            raise CommandError(f"{', '.join(missing)}: there is no such file")
        statuses = []
        for path in options["files"]:
            recorded = self._import(path, realm, asked_by, options)
            self._print(path, recorded, is_long=options["all_remarks"])
            statuses.append(recorded.report.exit_status)
            if recorded.report.is_stopped:
                break
        if ExitStatus.PARTIAL in statuses or len(set(statuses)) > 1:
            sys.exit(ExitStatus.PARTIAL)
        if ExitStatus.REFUSED in statuses:
            sys.exit(ExitStatus.REFUSED)

    def _import(self, path: Path, realm: Realm, asked_by: Actor, options: dict[str, Any]) -> Recorded:
        total = text_bytes(path)
        bar = ProgressBar(label=path.name, total=total)
        recorded = import_recorded(
            path=path,
            realm=realm,
            asked_by=asked_by,
            now=timezone.now(),
            account=options["account"],
            is_dry_run=options["dry_run"],
            keep_originals=not options["no_originals"],
            advance=lambda size, count: bar.advance(size=size, count=count),
            total=total,
        )
        bar.finish()
        return recorded

    def _print(self, path: Path, recorded: Recorded, *, is_long: bool) -> None:
        report = recorded.report
        taken = ", ".join(report.formats) or "refused"
        self.stdout.write(f"{path.name}: {taken}: {report.summary()}")
        self._list("refused, taken for", report.refused, is_long=True)
        self._list("not imported", report.failed, is_long=True)
        self._list("note", report.remarks, is_long=is_long)
        if recorded.is_abandoned:
            self.stdout.write("  its run was taken for abandoned; import again, nothing is added twice")
        self.stdout.write(f"  kept as run {recorded.run_id}")

    def _list(self, word: str, remarks: list[Remark], *, is_long: bool) -> None:
        shown = remarks if is_long else remarks[:_SHOWN]
        for remark in shown:
            self.stdout.write(f"  {word}: {remark.place}: {remark.text}")
        if len(remarks) > len(shown):
            self.stdout.write(f"  and {len(remarks) - len(shown):,} more notes (--all-remarks)")


def _realm(slug: str) -> Realm:
    realms = Realm.objects.filter(slug=slug) if slug else Realm.objects.all()
    found = list(realms[:2])
    if len(found) == 1:
        return found[0]
    raise CommandError(f"there is no realm {slug!r}" if slug else "name the realm with --realm")
