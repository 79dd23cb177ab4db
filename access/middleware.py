"""What holds for every request of somebody who signed in: session limits, second factor, refusals."""

from collections.abc import Callable
from typing import Final

from django.contrib import messages
from django.contrib.auth import get_user_model, logout
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django_otp.middleware import is_verified

from access.addresses import address_of
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of
from access.second_factor import must_enrol
from access.services.logging import log_access
from access.sessions import SessionState, read_state, touch

# What somebody may reach whose second factor is missing: setting it up, and leaving.
OPEN_WITHOUT_SECOND_FACTOR: Final = frozenset(
    {
        "admin:login",
        "admin:logout",
        "access:second-factor",
        "access:second-factor-enrol",
        "access:second-factor-picture",
        "healthz",
    }
)
_SAID: Final = {
    SessionState.IDLE: "You were signed out because nothing was done for a while.",
    SessionState.TOO_OLD: "You were signed out because your session had reached its age.",
    SessionState.FACTOR_GONE: "You were signed out because your second factor was changed.",
}


class SignedIn:
    """Ends sessions that are over, and lets nobody work who still has to set up a second factor."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.session.is_empty() and request.user.is_authenticated:
            now = timezone.now()
            state = read_state(request.session, is_verified=is_verified(request.user), now=now)
            if state is not SessionState.GOOD:
                return self._end(request, state)
            touch(request.session, now=now)
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable, args: tuple, kwargs: dict
    ) -> HttpResponseBase | None:
        match = request.resolver_match
        if match is None or match.view_name in OPEN_WITHOUT_SECOND_FACTOR:
            return None
        if request.session.is_empty() or not must_enrol(request.user):
            return None
        if request.method != "GET":
            raise PermissionDenied("Your role works with a second factor. Set yours up first.")
        messages.info(request, "Your role works with a second factor. Set yours up to go on.")
        return redirect("access:second-factor")

    def _end(self, request: HttpRequest, state: SessionState) -> HttpResponse:
        _log(request, AccessAction.SIGN_OUT, TargetKind.USER, str(request.user.pk))
        logout(request)
        messages.info(request, _SAID[state])
        return redirect_to_login(request.get_full_path() if request.method == "GET" else "/")


class Refusals:
    """Writes a row for each request of a signed-in user that was refused, wherever it was refused."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == 403 and isinstance(request.user, get_user_model()):
            match = request.resolver_match
            _log(request, AccessAction.REFUSED, TargetKind.PAGE, match.view_name if match else "")
        return response


def _log(request: HttpRequest, action: AccessAction, kind: TargetKind, target_id: str) -> None:
    match = request.resolver_match
    log_access(
        actor=actor_of(request),
        action=action,
        target_kind=kind,
        target_id=target_id,
        conversation_id=match.kwargs.get("conversation_id") if match else None,
        now=timezone.now(),
        address=address_of(request),
    )
