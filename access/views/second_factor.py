"""Setting up one's own second factor. Who has one signs in anew before changing it."""

from base64 import b32encode
from io import BytesIO

import django_otp
import segno
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from access.actors import Actor
from access.addresses import address_of
from access.forms import CodeForm
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, staff_of, staff_only
from access.second_factor import (
    begin_enrolment,
    finish_enrolment,
    has_second_factor,
    is_demanded_of,
    must_enrol,
    recovery_codes_left,
    remove_second_factor,
    renew_recovery_codes,
    waiting_authenticator,
)
from access.services.logging import log_access
from access.sessions import begin, is_fresh
from access.views.frame import framed

TITLE = "Second factor"
PURPOSE = "A code of your own device, asked after your password."


@never_cache
@require_GET
@staff_only
def second_factor(request: HttpRequest) -> HttpResponse:
    context = framed(request, title=TITLE, subtitle=PURPOSE) | {
        "has_factor": has_second_factor(staff_of(request)),
        "codes_left": recovery_codes_left(user=staff_of(request)),
        "is_required": must_enrol(staff_of(request)),
        "may_remove": not is_demanded_of(staff_of(request)),
    }
    return render(request, "access/second_factor.html", context)


@never_cache
@require_http_methods(["GET", "POST"])
@staff_only
def enrol(request: HttpRequest) -> HttpResponse:
    """Show the secret of a new authenticator; its first code takes it into use."""
    if has_second_factor(staff_of(request)) and not is_fresh(request.session, now=timezone.now()):
        return _sign_in_anew(request)
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        codes = _take_into_use(request, code=form.cleaned_data["code"])
        if codes is not None:
            return _show_codes(request, codes)
        form.add_error("code", "This is not the device's present code. Wait for its next one and enter that.")
    device = form.is_bound and waiting_authenticator(user=staff_of(request))
    device = device or begin_enrolment(user=staff_of(request))
    secret = b32encode(device.bin_key).decode()
    context = framed(request, title="Set up a second factor", subtitle=PURPOSE) | {
        "form": form,
        "secret": " ".join(secret[at : at + 4] for at in range(0, len(secret), 4)),
    }
    return render(request, "access/enrol.html", context)


@never_cache
@require_GET
@staff_only
def picture(request: HttpRequest) -> HttpResponse:
    """The secret of the authenticator that waits for its first code, as a QR code."""
    device = waiting_authenticator(user=staff_of(request))
    if device is None:
        raise Http404("no authenticator waits for its first code")
    file = BytesIO()
    segno.make_qr(device.config_url).save(file, kind="svg", scale=5, border=4, light="#fff")
    return HttpResponse(file.getvalue(), content_type="image/svg+xml")


@never_cache
@require_POST
@staff_only
def new_codes(request: HttpRequest) -> HttpResponse:
    if not has_second_factor(staff_of(request)):
        messages.info(request, "Recovery codes come with a second factor. Set one up first.")
        return redirect("access:second-factor")
    if not is_fresh(request.session, now=timezone.now()):
        return _sign_in_anew(request)
    with transaction.atomic():
        codes = renew_recovery_codes(user=staff_of(request))
        _log_change(request, actor=actor_of(request))
    return _show_codes(request, codes)


@never_cache
@require_POST
@staff_only
def remove(request: HttpRequest) -> HttpResponse:
    """Take one's own second factor away, where the role can do without; the session ends with it."""
    if is_demanded_of(staff_of(request)):
        raise PermissionDenied("Your role works with a second factor. It can be replaced, not removed.")
    if not is_fresh(request.session, now=timezone.now()):
        return _sign_in_anew(request)
    actor = actor_of(request)
    with transaction.atomic():
        if remove_second_factor(user=staff_of(request)):
            _log_change(request, actor=actor)
    logout(request)
    messages.info(request, "Your second factor was removed. Sign in with your password.")
    return redirect("admin:login")


def _sign_in_anew(request: HttpRequest) -> HttpResponse:
    log_access(
        actor=actor_of(request),
        action=AccessAction.SIGN_OUT,
        target_kind=TargetKind.USER,
        target_id=str(request.user.pk),
        now=timezone.now(),
        address=address_of(request),
    )
    logout(request)
    messages.info(request, "Sign in once more: changing how you sign in asks for a fresh sign-in.")
    return redirect_to_login(reverse("access:second-factor"))


def _take_into_use(request: HttpRequest, *, code: str) -> list[str] | None:
    """Take the waiting authenticator into use and return the recovery codes, if the code is its own.

    The session goes on as one that was begun with the new device; other sessions of the old one end.
    """
    with transaction.atomic():
        done = finish_enrolment(user=staff_of(request), code=code)
        if done is None:
            return None
        _log_change(request, actor=actor_of(request))
    device, codes = done
    django_otp.login(request, device)
    begin(request.session, now=timezone.now(), with_factor=True)
    return codes


def _show_codes(request: HttpRequest, codes: list[str]) -> HttpResponse:
    """Shown in the answer itself and kept nowhere, so there is no second time."""
    context = framed(request, title="Recovery codes") | {"codes": codes}
    return render(request, "access/recovery_codes.html", context)


def _log_change(request: HttpRequest, *, actor: Actor) -> None:
    log_access(
        actor=actor,
        action=AccessAction.CHANGE,
        target_kind=TargetKind.USER,
        target_id=actor.id,
        now=timezone.now(),
        address=address_of(request),
    )
