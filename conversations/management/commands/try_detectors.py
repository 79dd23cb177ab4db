"""Try the detectors of redaction on samples: what would be cut, line by line."""

import sys
from argparse import ArgumentParser, FileType
from typing import Any

from django.core.management.base import BaseCommand

from conversations.redaction.cutting import cut_text
from conversations.vocabulary import SecretKind


class Command(BaseCommand):
    help = "Read lines of text and print them as redaction would leave them. Writes nothing down."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", type=FileType(), default=sys.stdin)
        parser.add_argument("--kind", action="append", choices=SecretKind.values, help="only these kinds")

    def handle(self, *args: Any, **options: Any) -> None:
        kinds = frozenset(SecretKind(kind) for kind in options["kind"] or SecretKind.values)
        for line in options["file"]:
            self.stdout.write(cut_text(line.rstrip("\n"), kinds=kinds).text)
