"""Legal holds: the list, placing one, and its release by two people."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from access.addresses import address_of
from access.permissions import holds as has_right
from access.permissions import requires, staff_of
from access.reach import reach_of
from access.rights import RightName
from console.frame import frame_context
from console.listing import list_context, read_page
from console.retention_pages.forms import HoldForm, NoteForm
from conversations.errors import StoreError
from retention.models import LegalHold
from retention.querysets import holds_within, may_be_held
from retention.services.holds import (
    approve_release,
    asked_for_by,
    place_hold,
    refuse_release,
    request_release,
)

PURPOSE = (
    "What must stay, whatever a policy says. Two people release a hold; an open dispute is one by itself."
)


@never_cache
@require_GET
@requires(RightName.READ_RETENTION)
def holds(request: HttpRequest) -> HttpResponse:
    rows = holds_within(reach_of(staff_of(request))).select_related("placed_by", "placed_by_key")
    is_open = request.GET.get("open") != "0"
    if is_open:
        rows = rows.filter(released_at=None)
    is_asked = request.GET.get("release") == "asked"
    if is_asked:
        rows = rows.filter(release_requested_at__isnull=False, released_at=None)
    page = read_page(request, rows, moment="placed_at")
    context = frame_context(request, now=timezone.now(), title="Legal holds", subtitle=PURPOSE)
    context |= list_context(request.GET, page) | {
        "rows": page.rows,
        "is_open": is_open,
        "is_asked": is_asked,
        "may_place": has_right(request.user, RightName.PLACE_HOLDS),
    }
    return render(request, "console/retention/holds.html", context)


@never_cache
@require_http_methods(["GET", "POST"])
@requires(RightName.PLACE_HOLDS)
def place(request: HttpRequest) -> HttpResponse:
    given = {name: request.GET[name] for name in ("kind", "target") if name in request.GET}
    form = HoldForm(request.POST if request.method == "POST" else None, initial=given)
    if request.method == "POST" and form.is_valid():
        placed = _place(request, form)
        if placed is not None:
            messages.success(request, "The hold is in force.")
            return HttpResponseRedirect(reverse("console:hold", args=[placed.pk]))
    context = frame_context(request, now=timezone.now(), title="Place a hold", subtitle=PURPOSE)
    context |= {
        "form": form,
        "word": "Place the hold",
        "back": reverse("console:holds"),
        "parent": "Legal holds",
    }
    return render(request, "console/retention/form.html", context, status=422 if form.errors else 200)


def _place(request: HttpRequest, form: HoldForm) -> LegalHold | None:
    kind, target = form.cleaned_data["kind"], form.cleaned_data["target"]
    if not may_be_held(reach_of(staff_of(request)), kind=kind, target=target):
        form.add_error("target", "There is none with this id in your realms.")
        return None
    named: dict[str, Any] = {f"{kind}_id": target}
    try:
        return place_hold(
            **named,
            matter=form.cleaned_data["matter"],
            note=form.cleaned_data["note"],
            user=staff_of(request),
            now=timezone.now(),
            address=address_of(request),
        )
    except StoreError as error:
        form.add_error(None, error.explanation)
        return None


@never_cache
@require_GET
@requires(RightName.READ_RETENTION)
def hold(request: HttpRequest, hold_id: UUID) -> HttpResponse:
    found = _found(request, hold_id)
    context = frame_context(
        request,
        now=timezone.now(),
        title=f"Hold {found.matter}",
        subtitle="Who placed it, who asked, who approved.",
    )
    user = staff_of(request)
    context |= {
        "hold": found,
        "events": found.events.select_related("by", "by_key").order_by("pk"),
        "notes": found.notes.exclude(text="").select_related("author").order_by("pk"),
        "form": NoteForm(),
        "may_request": has_right(user, RightName.PLACE_HOLDS) and found.release_requested_at is None,
        "may_decide": has_right(user, RightName.RELEASE_HOLDS)
        and found.release_requested_at is not None
        and not asked_for_by(found, user),
        "is_own_request": asked_for_by(found, user),
    }
    return render(request, "console/retention/hold.html", context)


@require_POST
@requires(RightName.PLACE_HOLDS)
def ask_release(request: HttpRequest, hold_id: UUID) -> HttpResponse:
    return _act(request, hold_id, request_release, "Another person has to approve the release.")


@require_POST
@requires(RightName.RELEASE_HOLDS)
def decide_release(request: HttpRequest, hold_id: UUID) -> HttpResponse:
    if request.POST.get("decision") == "refuse":
        return _act(request, hold_id, refuse_release, "The hold goes on.")
    return _act(request, hold_id, approve_release, "The hold is released.")


def _act(request: HttpRequest, hold_id: UUID, service: Any, done: str) -> HttpResponse:
    found = _found(request, hold_id)
    back = HttpResponseRedirect(reverse("console:hold", args=[found.pk]))
    form = NoteForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was done: the note is longer than 2,000 characters. Shorten it.")
        return back
    try:
        service(
            hold_id=found.pk,
            user=staff_of(request),
            now=timezone.now(),
            note=form.cleaned_data["note"],
            address=address_of(request),
        )
        messages.success(request, done)
    except StoreError as error:
        messages.error(request, error.explanation)
    return back


def _found(request: HttpRequest, hold_id: UUID) -> LegalHold:
    found = holds_within(reach_of(staff_of(request))).filter(pk=hold_id).first()
    if found is None:
        raise Http404("There is no such hold in your realms.")
    return found
