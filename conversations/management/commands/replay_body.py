"""`manage.py replay_body CONVERSATION ATTEMPT`: the bytes that were sent, exactly."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from access.actors import Actor
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from conversations.management.asking import add_asker, asker
from conversations.models import Conversation
from conversations.public_ids import generation_id, message_id
from conversations.replay import ReplayError, next_body_at, request_body_of
from conversations.vocabulary import Dialect


class Command(BaseCommand):
    help = (
        "Print the request body of an attempt byte for byte, or the body that would be sent next. Who took it"
        " out stands in the access log."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("conversation", type=UUID)
        parser.add_argument("attempt", type=int, nargs="?", help="the attempt's number in the conversation")
        parser.add_argument("--next", type=int, metavar="SEQ", help="the body for going on from this message")
        parser.add_argument(
            "--dialect", choices=Dialect.values, help="with --next: in this provider's format"
        )
        parser.add_argument("--model", default="", help="with --next, where no attempt on the path names one")
        parser.add_argument("--output", type=Path, help="a file to write to, instead of standard output")
        add_asker(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if (options["attempt"] is None) == (options["next"] is None):
            raise CommandError("Name an attempt, or a message with --next.")
        asked_by = asker(options["by"])
        try:
            body = self.next_body(options) if options["attempt"] is None else self.sent_body(options)
        except ReplayError as error:
            raise CommandError(str(error)) from error
        _log(options, asked_by)
        if options["output"]:
            try:
                options["output"].write_bytes(body)
            except OSError as error:
                raise CommandError(f"{options['output']}: {error.strerror}") from error
        else:
            # Django's wrapper around standard output takes text only, and ends it with a newline.
            sys.stdout.buffer.write(body)

    def sent_body(self, options: dict[str, Any]) -> bytes:
        return request_body_of(conversation_id=options["conversation"], number=options["attempt"])

    def next_body(self, options: dict[str, Any]) -> bytes:
        dialect = Dialect(options["dialect"]) if options["dialect"] else None
        composed = next_body_at(
            conversation_id=options["conversation"],
            leaf_seq=options["next"],
            dialect=dialect,
            model=options["model"],
        )
        for violation in composed.violations:
            self.stderr.write(f"{violation.place}: {violation.explanation} ({violation.rule})")
        for note in composed.notes:
            self.stderr.write(note)
        return composed.body


def _log(options: dict[str, Any], asked_by: Actor) -> None:
    """Write it down before anything leaves, as the console does."""
    conversation_id, number, seq = options["conversation"], options["attempt"], options["next"]
    found = Conversation.objects.select_related("account").only("account__realm_id").get(pk=conversation_id)
    is_attempt = number is not None
    log_access(
        actor=asked_by,
        action=AccessAction.DOWNLOAD,
        target_kind=TargetKind.ATTEMPT if is_attempt else TargetKind.MESSAGE,
        target_id=generation_id(found.pk, number) if is_attempt else message_id(found.pk, seq),
        realm_id=found.account.realm_id,
        conversation_id=found.pk,
        account_id=found.account_id,
        now=timezone.now(),
    )
