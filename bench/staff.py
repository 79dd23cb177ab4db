"""A member of staff with a browser, for measuring what a page costs on the server."""

import statistics
import sys
import time
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING
from uuid import UUID

from bench import timing

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client

NAME = "bench"
WARM_UP = 3
ROUNDS = 15


@cache
def member() -> "User":
    """Support for every realm."""
    from django.contrib.auth.models import Group, User

    from access.models import StaffMember
    from access.rights import RoleName

    user, _ = User.objects.get_or_create(username=NAME, defaults={"is_staff": True})
    user.groups.add(Group.objects.get(name=RoleName.SUPPORT.value))
    StaffMember.objects.get_or_create(user=user, defaults={"sees_all_realms": True})
    return user


@cache
def browser() -> "Client":
    from django.core.management import call_command
    from django.test import Client

    # Pages name their stylesheets by what is in them.
    call_command("collectstatic", interactive=False, verbosity=0)
    client = Client(SERVER_NAME="localhost")
    client.force_login(member())
    return client


def give_reason(conversation_id: UUID) -> None:
    """Open the conversation's texts to the member for the usual hours."""
    from access.services.reasons import state_reason

    state_reason(
        user=member(),
        conversation_id=conversation_id,
        ticket="BENCH-1",
        words="measuring",
        now=datetime.now(UTC),
    )


def page_within(name: str, addresses: list[str], most: float) -> bool:
    """Ask for the pages, one after the other; print and judge the median time of a page.

    From the request's object to the last byte of the page, database included, without a socket.
    In brackets the quickest, and what of all of it was this process's own CPU: the rest is the
    database and whoever else the machine works for.
    """
    taken, spent = [], 0.0
    for round_number in range(WARM_UP + ROUNDS):
        address = addresses[round_number % len(addresses)]
        began, used = time.perf_counter(), time.process_time()
        answer = browser().get(address)
        took = time.perf_counter() - began
        if answer.status_code != 200:
            raise RuntimeError(f"{address} answered {answer.status_code}")
        if round_number >= WARM_UP:
            taken.append(took * 1000)
            spent += time.process_time() - used
    usual = statistics.median(taken)
    sys.stdout.write(
        f"  {name:<28} {usual:8.1f} ms ({min(taken):6.1f} at least, {spent * 1000 / ROUNDS:6.1f} of CPU)\n"
    )
    return usual <= most or timing.within(name, usual, most, "ms")
