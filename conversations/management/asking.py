"""Who calls a command: a member of staff who says so, or else the account that it runs under."""

import os
import pwd
from argparse import ArgumentParser

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from access.actors import Actor, ActorKind


def add_asker(parser: ArgumentParser) -> None:
    parser.add_argument("--by", default="", metavar="USER", help="user name of the member of staff who asks")


def asker(username: str) -> Actor:
    """Return who asks; CommandError where there is no such member of staff.

    What the environment says of the account is not asked: anybody can set it.
    """
    if not username:
        return Actor(ActorKind.IMPORTER, _account_name()[:64])
    user = User.objects.filter(username=username, is_active=True, is_staff=True).first()
    if user is None:
        raise CommandError(f"there is no member of staff {username!r}")
    return Actor(ActorKind.STAFF, str(user.pk))


def _account_name() -> str:
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"uid {number}"
