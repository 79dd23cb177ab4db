"""Who may open a page: each view names its right, and whoever lacks it is refused.

`access.middleware.Refusals` writes each refusal to the access log, wherever it was raised.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, NoReturn

from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

from access.actors import Actor, ActorKind
from access.rights import RightName

View = Callable[..., HttpResponseBase]

# What a checked view carries, so that a test can walk every address and ask what it demands.
DECLARED_RIGHTS: Final = "declared_rights"


def requires(right: RightName) -> Callable[[View], View]:
    """Let in staff who hold `right`. Others are refused; strangers are asked to sign in."""

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            if not (request.user.is_staff and holds(request.user, right)):
                refuse(why=f"Your role does not have the right to this: “{right.label}”.")
            return view(request, *args, **kwargs)

        setattr(checked, DECLARED_RIGHTS, frozenset({right}) | getattr(view, DECLARED_RIGHTS, frozenset()))
        return checked

    return decorate


def staff_only(view: View) -> View:
    """Let in any member of staff: for pages about whoever looks, which need no right."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        if not (request.user.is_active and request.user.is_staff):
            refuse(why="This page is for staff.")
        return view(request, *args, **kwargs)

    setattr(checked, DECLARED_RIGHTS, getattr(view, DECLARED_RIGHTS, frozenset()))
    return checked


def holds(user: User | AnonymousUser, right: RightName) -> bool:
    return bool(user.is_active and user.has_perm(f"access.{right.value}"))


def refuse(*, why: str) -> NoReturn:
    """Refuse with a sentence that stands on the page: who may take this step, and why not you."""
    raise PermissionDenied(why)


def staff_of(request: HttpRequest) -> User:
    """Return the member of staff who asks, in a view that lets in nobody else."""
    if not isinstance(request.user, User):
        refuse(why="This page is for staff.")
    return request.user


def actor_of(request: HttpRequest) -> Actor:
    return Actor(ActorKind.STAFF, str(request.user.pk))
