"""The desk of findings: the list with its ageing, one finding with its history, what is done with both."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import BadRequest
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from access.addresses import address_of
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, holds, refuse, requires, staff_of
from access.reach import reach_of
from access.reading import reading_rows, reads_customers
from access.rights import RightName
from access.services.logging import log_access
from console.csv import csv_lines
from console.filtering import without
from console.frame import frame_context
from console.listing import beside, list_context, read_page
from console.reconciling.finding_list import (
    CSV_HEADER,
    FindingFilter,
    csv_rows,
    listed,
    possible_owners,
    rows_of,
    show,
)
from console.reconciling.forms import CommentForm, ResolutionForm
from conversations.errors import StoreError
from ledger.models import Finding
from ledger.reconciliation import desk
from ledger.reconciliation.querysets import ageing, latest_run, shares, waiting_rows
from ledger.reconciliation.vocabulary import Resolution

DESK = "console:findings"
"""Where every step leads back to."""


def _filtered(request: HttpRequest) -> FindingFilter:
    query = request.GET.copy()
    query.setdefault("state", "open")
    user = staff_of(request)
    return FindingFilter(query, queryset=listed(reach_of(user)), user=user, now=timezone.now())


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def findings(request: HttpRequest) -> HttpResponse:
    now, user = timezone.now(), staff_of(request)
    reach = reach_of(user)
    filters = _filtered(request)
    page = read_page(
        request,
        filters.qs if filters.is_valid() else Finding.objects.none(),
        moment="first_seen_at",
        is_oldest_first=True,
    )
    latest = latest_run(reach.within("realm_id"))
    every = Finding.objects.filter(reach.within("realm_id"))
    bands = ageing(every, now=now)
    context = frame_context(
        request,
        now=now,
        title="Findings",
        subtitle=(
            "Differences between ledger, processor and conversations that a person must settle. "
            "Nothing is refunded by itself."
        ),
    )
    context |= list_context(request.GET, page) | {
        "rows": rows_of(page.rows, now=now),
        "form": filters.form,
        "bands": bands,
        "currencies": sorted({currency for band in bands for currency in band.amounts}),
        "most": max((band.number for band in bands), default=0),
        "open_count": sum(band.number for band in bands),
        "waiting_count": waiting_rows(latest).count() if latest else 0,
        "shares": shares(every, user_id=user.pk, now=now),
        "latest": latest,
        "may_settle": holds(user, RightName.RESOLVE_FINDINGS),
        "may_ask": holds(user, RightName.REQUEST_COMPENSATION),
        "owners": possible_owners() if holds(user, RightName.RESOLVE_FINDINGS) else [],
        "csv": reverse("console:findings-csv") + without(request.GET)
        if holds(user, RightName.EXPORT)
        else "",
        # The oldest stand first, so the next page holds newer ones.
        "newer": beside(request.GET, "after", page.older),
        "older": beside(request.GET, "before", page.newer),
        "widen": [("Every open finding", reverse(DESK))],
    }
    return render(request, "console/reconciling/findings.html", context)


@require_GET
@requires(RightName.EXPORT)
@requires(RightName.READ_EFFECTS)
def findings_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Stream the filtered list. The row in the access log stands before the first line leaves."""
    filters = _filtered(request)
    if not filters.is_valid():
        raise BadRequest("a filter of this list cannot be read")
    now = timezone.now()
    log_access(
        actor=actor_of(request),
        action=AccessAction.EXPORT,
        target_kind=TargetKind.LIST,
        target_id="findings",
        now=now,
        address=address_of(request),
    )
    rows = reading_rows(reach_of(staff_of(request)), lambda: csv_rows(filters.qs, now=now))
    return StreamingHttpResponse(
        csv_lines(header=CSV_HEADER, rows=rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="findings.csv"'},
    )


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def finding(request: HttpRequest, finding_id: int) -> HttpResponse:
    now, user = timezone.now(), staff_of(request)
    found = listed(reach_of(user)).select_related("first_run", "last_run").filter(pk=finding_id).first()
    if found is None:
        raise Http404("There is no such finding.")
    shown = show(found, now=now)
    context = frame_context(
        request, now=now, title=f"F-{found.pk}, {shown.row.kind.lower()}", subtitle=shown.explained
    )
    context |= {
        "shown": shown,
        "row": shown.row,
        "finding": found,
        "resolution_form": ResolutionForm(),
        "comment_form": CommentForm(),
        "may_settle": holds(user, RightName.RESOLVE_FINDINGS),
        "may_ask": holds(user, RightName.REQUEST_COMPENSATION),
        "owners": possible_owners() if holds(user, RightName.RESOLVE_FINDINGS) else [],
    }
    return render(request, "console/reconciling/finding.html", context)


@require_POST
@requires(RightName.READ_EFFECTS)
def act_on_findings(request: HttpRequest) -> HttpResponse:
    """Do one thing with the findings that are ticked; what needs a reason asks on a page of its own."""
    ids = _ids(request)
    steps: dict[str, tuple[RightName, Callable[[HttpRequest, list[int]], HttpResponse | None]]] = {
        "assign": (RightName.RESOLVE_FINDINGS, _assign),
        "resolve": (RightName.RESOLVE_FINDINGS, _resolve),
        "reopen": (RightName.RESOLVE_FINDINGS, _reopen),
        "comment": (RightName.RESOLVE_FINDINGS, _comment),
        "confirm": (RightName.RESOLVE_FINDINGS, _confirm),
        "refuse": (RightName.RESOLVE_FINDINGS, _refuse_match),
        "refund": (RightName.REQUEST_COMPENSATION, _ask_for_refund),
    }
    if request.POST.get("do") not in steps:
        raise BadRequest("there is no such step")
    right, step = steps[request.POST["do"]]
    if not holds(request.user, right):
        refuse(why=f"Your role does not have the right to this: “{right.label}”.")
    if not ids:
        messages.error(request, "Nothing was changed: no finding is selected.")
        return _back(request)
    try:
        with transaction.atomic():
            answer = step(request, ids)
            if answer is None:
                _log(request, ids)
    except StoreError as error:
        messages.error(request, f"Nothing was changed: {error.explanation}.")
        answer = None
    return answer or _back(request)


def _assign(request: HttpRequest, ids: list[int]) -> None:
    to = request.POST.get("to", "")
    owner = next((user for user in possible_owners() if str(user.pk) == to), None)
    if to and owner is None:
        raise BadRequest("nobody of that number may settle findings")
    changed = desk.assign_findings(ids=ids, to=owner, user=staff_of(request), now=timezone.now())
    messages.success(request, f"{_number(len(changed))} assigned to {_name(owner)}.")


def _resolve(request: HttpRequest, ids: list[int]) -> HttpResponse | None:
    form = ResolutionForm(request.POST if "resolution" in request.POST else None)
    if not form.is_valid():
        return _ask(request, ids, title=f"Settle {_number(len(ids))}", step="resolve", form=form)
    settled = desk.resolve_findings(
        ids=ids,
        resolution=Resolution(form.cleaned_data["resolution"]),
        reason=form.cleaned_data["reason"],
        user=staff_of(request),
        now=timezone.now(),
    )
    messages.success(request, f"{_number(len(settled))} settled.")
    return None


def _reopen(request: HttpRequest, ids: list[int]) -> None:
    for pk in ids:
        reason = request.POST.get("reason", "")[:4000]
        desk.reopen_finding(finding_id=pk, reason=reason, user=staff_of(request), now=timezone.now())


def _comment(request: HttpRequest, ids: list[int]) -> None:
    form = CommentForm(request.POST)
    if not form.is_valid():
        raise StoreError("comment-empty", "a comment has 1 to 4,000 characters")
    for pk in ids:
        desk.comment_on_finding(
            finding_id=pk, text=form.cleaned_data["text"], user=staff_of(request), now=timezone.now()
        )


def _confirm(request: HttpRequest, ids: list[int]) -> None:
    for pk in ids:
        desk.decide_on_match(finding_id=pk, is_confirmed=True, user=staff_of(request), now=timezone.now())
    messages.success(request, "The match is confirmed; the statement’s line has settled the effect.")


def _refuse_match(request: HttpRequest, ids: list[int]) -> None:
    for pk in ids:
        desk.decide_on_match(finding_id=pk, is_confirmed=False, user=staff_of(request), now=timezone.now())
    messages.success(request, "The two are apart in every run to come.")


def _ask_for_refund(request: HttpRequest, ids: list[int]) -> HttpResponse | None:
    if "is_sure" not in request.POST:
        return _ask(request, ids, title=f"Ask for {_number(len(ids))} to be refunded", step="refund")
    for pk in ids:
        desk.ask_for_refund(finding_id=pk, user=staff_of(request), now=timezone.now())
    messages.success(request, f"A refund was asked for {_number(len(ids))}. Another person decides.")
    return None


def _ask(
    request: HttpRequest, ids: list[int], *, title: str, step: str, form: ResolutionForm | None = None
) -> HttpResponse:
    """The page between ticking and doing: how many of what, and what will happen."""
    now = timezone.now()
    found = listed(reach_of(staff_of(request))).filter(pk__in=ids).order_by("pk")
    context = frame_context(request, now=now, title=title, subtitle="What was settled can be reopened.")
    context |= {"rows": rows_of(found, now=now), "step": step, "form": form, "back": _back_url(request)}
    return render(request, "console/reconciling/act.html", context)


def _ids(request: HttpRequest) -> list[int]:
    """Return the ticked findings, if all of them lie within the reach of whoever asks."""
    given = request.POST.getlist("f")
    if not all(text.isdecimal() and len(text) < 18 for text in given):
        raise BadRequest("a finding is named by its number")
    ids = sorted({int(text) for text in given})
    reach = reach_of(staff_of(request))
    realms = Finding.objects.filter(pk__in=ids).values_list("realm_id", flat=True)
    if any(not reach.holds(realm_id) for realm_id in realms):
        refuse(why="One of these findings belongs to a realm that you do not see.")
    return ids


def _log(request: HttpRequest, ids: list[int]) -> None:
    log_access(
        actor=actor_of(request),
        action=AccessAction.CHANGE,
        target_kind=TargetKind.FINDING,
        target_id=f"{request.POST['do']} {', '.join(f'F-{pk}' for pk in ids)}"[:255],
        row_count=len(ids),
        now=timezone.now(),
        address=address_of(request),
    )


def _back(request: HttpRequest) -> HttpResponseRedirect:
    return HttpResponseRedirect(_back_url(request))


def _back_url(request: HttpRequest) -> str:
    """Back to the one finding, or to the desk; never to an address that came with the form."""
    one = request.POST.get("on", "")
    if one.isdecimal() and len(one) < 18:
        return reverse("console:finding", args=[int(one)])
    return reverse(DESK)


def _number(count: int) -> str:
    return "1 finding" if count == 1 else f"{count:,} findings"


def _name(user: User | None) -> str:
    return (user.get_full_name() or user.get_username()) if user else "nobody"
