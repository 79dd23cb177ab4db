"""API keys: the list, making one, exchanging it, taking it back. A secret is on one answer only."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from access.addresses import address_of
from access.models import ApiKey, Scope
from access.models.api_key import EVERY_READ
from access.permissions import actor_of, requires, staff_of
from access.reach import reach_of
from access.rights import RightName
from access.services.keys import IssuedKey, KeyEndedError, issue_key, revoke_key, rotate_key
from access.services.sampling import logged_percent
from console.frame import frame_context
from console.key_pages.forms import ExchangeForm, KeyForm
from console.listing import list_context, read_page

PURPOSE = "What applications show to the API. Each belongs to one realm and sees nothing outside it."


@never_cache
@require_GET
@requires(RightName.MANAGE_KEYS)
def api_keys(request: HttpRequest) -> HttpResponse:
    keys = ApiKey.objects.filter(reach_of(staff_of(request)).within("realm_id")).select_related("realm")
    page = read_page(request, keys, moment="created_at")
    now = timezone.now()
    context = frame_context(request, now=now, title="API keys", subtitle=PURPOSE)
    context |= list_context(request.GET, page)
    context["rows"] = [(key, *standing_of(key, now=now)) for key in page.rows]
    return render(request, "console/keys/keys.html", context)


@never_cache
@require_http_methods(["GET", "POST"])
@requires(RightName.MANAGE_KEYS)
def new_api_key(request: HttpRequest) -> HttpResponse:
    """Make a key. The answer to the form shows the secret; no page will again."""
    form = KeyForm(reach_of(staff_of(request)), request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        issued = issue_key(
            realm=form.cleaned_data["realm"],
            application=form.cleaned_data["application"],
            scopes=[Scope(scope) for scope in form.cleaned_data["scopes"]],
            actor=actor_of(request),
            now=timezone.now(),
            expires_at=form.expires_at,
            requests_per_minute=form.cleaned_data["requests_per_minute"],
            reads_logged_percent=form.cleaned_data.get("reads_logged_percent", EVERY_READ),
            address=address_of(request),
        )
        return _show_secret(request, issued)
    context = frame_context(request, now=timezone.now(), title="Make an API key", subtitle=PURPOSE)
    context |= {
        "form": form,
        "word": "Make the key",
        "back": reverse("console:api-keys"),
        "parent": "API keys",
    }
    return render(request, "console/retention/form.html", context, status=422 if form.errors else 200)


@never_cache
@require_GET
@requires(RightName.MANAGE_KEYS)
def api_key(request: HttpRequest, key_id: int) -> HttpResponse:
    key, now = _found(request, key_id), timezone.now()
    context = frame_context(request, now=now, title=key.application, subtitle=PURPOSE)
    state, word = standing_of(key, now=now)
    successor = ApiKey.objects.filter(replaces=key).first()
    context |= {
        "key": key,
        "state": state,
        "word": word,
        "scopes": [Scope(scope) for scope in key.scopes],
        "successor": successor,
        "logged_percent": logged_percent(key),
        "is_living": state in {"running", "waiting"},
        "form": ExchangeForm(),
    }
    return render(request, "console/keys/key.html", context)


@never_cache
@require_POST
@requires(RightName.MANAGE_KEYS)
def exchange_api_key(request: HttpRequest, key_id: int) -> HttpResponse:
    key, form = _found(request, key_id), ExchangeForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose when the old key ends.")
        return HttpResponseRedirect(reverse("console:api-key", args=[key.pk]))
    overlap = timedelta(hours=form.cleaned_data["hours"])
    return _act(
        request,
        key,
        lambda now: _show_secret(
            request,
            rotate_key(
                key_id=key.pk,
                overlap=overlap,
                actor=actor_of(request),
                now=now,
                address=address_of(request),
            ),
        ),
    )


@never_cache
@require_POST
@requires(RightName.MANAGE_KEYS)
def revoke_api_key(request: HttpRequest, key_id: int) -> HttpResponse:
    key = _found(request, key_id)

    def revoke(now: datetime) -> HttpResponse:
        revoke_key(key_id=key.pk, actor=actor_of(request), now=now, address=address_of(request))
        messages.success(request, "The key opens nothing any more.")
        return HttpResponseRedirect(reverse("console:api-key", args=[key.pk]))

    return _act(request, key, revoke)


def standing_of(key: ApiKey, *, now: datetime) -> tuple[str, str]:
    """Return how the key stands, as a state of the console and in words."""
    if key.revoked_at is not None:
        return "skipped", "Revoked"
    if key.expires_at is not None and key.expires_at <= now:
        return "skipped", "Ended"
    if key.expires_at is not None and key.expires_at <= now + timedelta(days=14):
        return "waiting", "Ends soon"
    return "running", "In use" if key.last_used_at else "Not used yet"


def _act(request: HttpRequest, key: ApiKey, act: Callable[[datetime], HttpResponse]) -> HttpResponse:
    try:
        return act(timezone.now())
    except KeyEndedError as error:
        messages.error(request, f"{error}.")
        return HttpResponseRedirect(reverse("console:api-key", args=[key.pk]))


def _show_secret(request: HttpRequest, issued: IssuedKey) -> HttpResponse:
    context = frame_context(
        request,
        now=timezone.now(),
        title="Copy the key now",
        subtitle="No page shows it again.",
    )
    return render(request, "console/keys/issued.html", context | {"issued": issued})


def _found(request: HttpRequest, key_id: int) -> ApiKey:
    within = reach_of(staff_of(request)).within("realm_id")
    found = ApiKey.objects.select_related("realm", "replaces").filter(within, pk=key_id).first()
    if found is None:
        raise Http404("There is no such key in your realms.")
    return found
