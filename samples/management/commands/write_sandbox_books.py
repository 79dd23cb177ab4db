from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from samples.company.books import write_books


class Command(BaseCommand):
    help = "Write the sandbox processor's books as the ledger of this database has them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="the sandbox's SQLite file; it must not be in use")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["path"]
        for file in (path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))):
            file.unlink(missing_ok=True)
        books = write_books(path)
        self.stdout.write(f"{books.written} movements in the books of the sandbox processor.")
        if books.left_out:
            self.stdout.write(f"{books.left_out} left out: the ledger has no charge of theirs.")
