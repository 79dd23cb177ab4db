"""Signing in, in one step or two, and out. Each of them is a row in the access log.

The user is signed in only once everything was shown that the user has: between password and
code nothing but the user's key stands in the session, for a few minutes.
"""

from datetime import datetime, timedelta
from typing import Any, Final

import django_otp
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from django_otp.models import Device

from access.actors import Actor, ActorKind
from access.addresses import address_of
from access.forms import CodeForm, SignInForm
from access.models.log import AccessAction, TargetKind
from access.second_factor import check_code, has_second_factor
from access.services.logging import log_access
from access.sessions import begin
from access.views.frame import framed

_PENDING: Final = "access.pending"
_CODES_TRIED: Final = "access.codes_tried"
_PENDING_LASTS: Final = timedelta(minutes=5)
_MOST_CODES: Final = 5


class SignIn(LoginView):
    """The password; then the code page, for whoever has a second factor."""

    template_name = "admin/login.html"
    form_class = SignInForm

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated and request.user.is_staff:
            return redirect(self.get_success_url())
        return super().get(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        return context | framed(self.request, title="Log in") | {"app_path": self.request.get_full_path()}

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        user = form.get_user()
        if not has_second_factor(user):
            _complete(self.request, user=user, now=timezone.now())
            return HttpResponseRedirect(self.get_success_url())
        self.request.session.cycle_key()
        self.request.session[_PENDING] = [user.pk, user.backend, int(timezone.now().timestamp())]
        self.request.session[_CODES_TRIED] = 0
        return _to_code_page(self.get_redirect_url())

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        user = User.objects.filter(username=self.request.POST.get("username", "").replace("\0", "")).first()
        _log_failure(self.request, user=user, now=timezone.now())
        return super().form_invalid(form)


class SignOut(LogoutView):
    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            _log(request, AccessAction.SIGN_OUT, user=request.user, now=timezone.now())
        return super().post(request, *args, **kwargs)


@never_cache
@require_http_methods(["GET", "POST"])
def code(request: HttpRequest) -> HttpResponse:
    """Ask whoever gave the password for a code; after five wrong ones, for the password again."""
    now = timezone.now()
    following = request.GET.get("next", "")
    user, backend = _pending(request, now=now)
    if user is None:
        return redirect(f"{reverse('admin:login')}?{urlencode({'next': following})}")
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        checked = check_code(user=user, code=form.cleaned_data["code"])
        if checked.device is not None:
            _complete(request, user=user, now=now, backend=backend, device=checked.device)
            return redirect(_safe(request, following))
        _log_failure(request, user=user, now=now)
        if _too_many_codes(request):
            return redirect(f"{reverse('admin:login')}?{urlencode({'next': following})}")
        form.add_error("code", _why_not(checked.waits_until, now=now))
    return render(request, "access/code.html", framed(request, title="Enter a code") | {"form": form})


def paused(request: HttpRequest, *args: Any) -> HttpResponse:
    """Answer whoever has failed too often; the throttle calls this in place of the sign-in page."""
    context = framed(request, title="Sign-in paused") | {"minutes": settings.SIGN_IN_PAUSE_MINUTES}
    return render(request, "access/paused.html", context, status=429)


def _to_code_page(following: str) -> HttpResponse:
    address = reverse("access:code")
    return redirect(f"{address}?{urlencode({'next': following})}" if following else address)


def _pending(request: HttpRequest, *, now: datetime) -> tuple[User | None, str]:
    pk, backend, since = request.session.get(_PENDING, (None, "", 0))
    if pk is None or now.timestamp() - since > _PENDING_LASTS.total_seconds():
        return None, ""
    return User.objects.filter(pk=pk, is_active=True).first(), backend


def _too_many_codes(request: HttpRequest) -> bool:
    tried = request.session.get(_CODES_TRIED, 0) + 1
    request.session[_CODES_TRIED] = tried
    if tried >= _MOST_CODES:
        request.session.flush()
        return True
    return False


def _why_not(waits_until: datetime | None, *, now: datetime) -> str:
    if waits_until is None:
        return "This code is wrong, was used before, or has run out."
    seconds = max(1, round((waits_until - now).total_seconds()))
    return f"Too many wrong codes. The next one is looked at in {seconds} s; this one was not."


def _complete(
    request: HttpRequest,
    *,
    user: User,
    now: datetime,
    backend: str | None = None,
    device: Device | None = None,
) -> None:
    login(request, user, backend=backend)
    if device is not None:
        django_otp.login(request, device)
    for key in (_PENDING, _CODES_TRIED):
        request.session.pop(key, None)
    begin(request.session, now=now, with_factor=device is not None)
    _log(request, AccessAction.SIGN_IN, user=user, now=now)


def _safe(request: HttpRequest, following: str) -> str:
    is_ours = url_has_allowed_host_and_scheme(
        following, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return following if is_ours else settings.LOGIN_REDIRECT_URL


def _log(request: HttpRequest, action: AccessAction, *, user: User, now: datetime) -> None:
    log_access(
        actor=Actor(ActorKind.STAFF, str(user.pk)),
        action=action,
        target_kind=TargetKind.USER,
        target_id=str(user.pk),
        now=now,
        address=address_of(request),
    )


def _log_failure(request: HttpRequest, *, user: User | None, now: datetime) -> None:
    """Nobody knows who tried: the target is the user who was tried, if any. What was typed is not kept."""
    log_access(
        actor=Actor(ActorKind.STAFF),
        action=AccessAction.SIGN_IN_FAILED,
        target_kind=TargetKind.USER,
        target_id=str(user.pk) if user else "",
        now=now,
        address=address_of(request),
    )
