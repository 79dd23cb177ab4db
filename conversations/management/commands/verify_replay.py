"""`manage.py verify_replay`: prove every recorded body again, and say how each is given back."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from conversations.replay.verify import verify_replay


class Command(BaseCommand):
    help = "Rebuild every recorded request body, check it against its digest, and count the results."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--conversation", type=UUID, help="only this conversation's attempts")

    def handle(self, *args: Any, **options: Any) -> None:
        tally = verify_replay(conversation_id=options["conversation"])
        for failure in tally.failures:
            self.stderr.write(failure)
        proofs = tally.proofs
        self.stdout.write(
            f"{proofs['exact']} exact, {proofs['patched']} patched ({tally.patch_bytes} bytes of patches),"
            f" {proofs['verbatim']} verbatim, {tally.lost} no longer replayable, {len(tally.failures)} failed"
        )
        if tally.failures:
            raise CommandError("Bodies came back different from what was sent.")
