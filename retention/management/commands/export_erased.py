"""Write the list of erased people, as keyed digests, to be kept beside the backups."""

from typing import Any

from django.core.management.base import BaseCommand

from retention.services.reapplying import erased_lines


class Command(BaseCommand):
    help = "Print the keyed digests of erased people, one JSON object a line, for reapply_erasures --list."

    def handle(self, *args: Any, **options: Any) -> None:
        for line in erased_lines():
            self.stdout.write(line)
