"""The checks of `access.permissions`, under the names that the console's views use."""

from typing import NoReturn

from django.http import HttpRequest

from access import permissions
from access.addresses import address_of
from access.permissions import actor_of, holds, requires

__all__ = ["actor_of", "address_of", "holds", "refuse", "requires"]


def refuse(request: HttpRequest, *, why: str) -> NoReturn:
    """Refuse; the row in the access log is written where every refusal is, in the middleware."""
    permissions.refuse(why=why)
