"""The erasure desk: requests with their clocks, intake, one request and what is done about it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from access.addresses import address_of
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, refuse, requires, staff_of
from access.permissions import holds as has_right
from access.reach import reach_of
from access.rights import RightName
from access.services.logging import log_access
from console.csv import csv_answer
from console.frame import frame_context
from console.listing import list_context, read_page
from console.masking import masked_email, masked_name
from console.retention_pages.forms import IdentityForm, IntakeForm, NoteForm
from console.retention_pages.requests import clock_of, shown_rows, stages_of, steps_of
from console.retention_pages.stores import label_of
from conversations.errors import StoreError
from conversations.models import Account
from jobs.services.starting import OverlapError
from retention.models import ErasureReceipt, ErasureRequest
from retention.querysets import requests_within
from retention.services import erasing, taking_in
from retention.vocabulary import CopyState, IdentifierKind, IdentityCheck, RequestState

PURPOSE = "People who asked to be forgotten: thirty days, two people, and a receipt that names nobody."


@never_cache
@require_GET
@requires(RightName.READ_RETENTION)
def erasures(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    rows = requests_within(reach_of(staff_of(request)))
    is_open = request.GET.get("open") != "0"
    if is_open:
        rows = rows.filter(finished_at=None)
    state = request.GET.get("state", "")
    if state in RequestState:
        rows = rows.filter(state=state)
    page = read_page(request, rows, moment="received_at")
    context = frame_context(request, now=now, title="Erasure requests", subtitle=PURPOSE)
    context |= list_context(request.GET, page) | {
        "rows": shown_rows(page.rows, now=now),
        "is_open": is_open,
        "state": RequestState(state).label if state in RequestState else "",
        "may_handle": has_right(request.user, RightName.HANDLE_ERASURES),
    }
    return render(request, "console/retention/erasures.html", context)


@never_cache
@require_http_methods(["GET", "POST"])
@requires(RightName.HANDLE_ERASURES)
def intake(request: HttpRequest) -> HttpResponse:
    """First finds the person's accounts, then takes the request in about those that were ticked."""
    reach, now = reach_of(staff_of(request)), timezone.now()
    form = IntakeForm(
        reach,
        request.POST if request.method == "POST" else None,
        initial={"received_on": timezone.localdate(now)},
    )
    found: list[Account] | None = None
    if request.method == "POST" and form.is_valid():
        found = _find(request, realm_id=form.cleaned_data["realm"].pk, names=form.lines("names"), now=now)
        chosen = {pk for pk in request.POST.getlist("account") if pk in {str(one.pk) for one in found}}
        if chosen:
            taken = _take_in(request, form, [UUID(pk) for pk in sorted(chosen)])
            if taken is not None:
                return HttpResponseRedirect(reverse("console:erasure", args=[taken.pk]))
    context = frame_context(request, now=now, title="Take a request in", subtitle=PURPOSE)
    context |= {"form": form, "found": found, "shown": [_masked(one) for one in found or []]}
    return render(request, "console/retention/intake.html", context, status=422 if form.errors else 200)


def _find(request: HttpRequest, *, realm_id: int, names: list[str], now: datetime) -> list[Account]:
    """Return the person's accounts; that somebody looked for a person is in the log, never the names."""
    found = taking_in.find_accounts(realm_id=realm_id, names=names)
    only = found[0].pk if len(found) == 1 else None
    log_access(
        actor=actor_of(request),
        action=AccessAction.SEARCH_PERSON,
        target_kind=TargetKind.ACCOUNT,
        target_id="erasure intake",
        realm_id=realm_id,
        account_id=only,
        row_count=len(found),
        now=now,
        address=address_of(request),
    )
    return found


def _take_in(request: HttpRequest, form: IntakeForm, account_ids: list[UUID]) -> ErasureRequest | None:
    try:
        return taking_in.take_in(
            realm_id=form.cleaned_data["realm"].pk,
            account_ids=account_ids,
            aliases=[*form.lines("names"), *form.lines("aliases")],
            received_at=form.received_at(),
            now=timezone.now(),
            user=staff_of(request),
            address=address_of(request),
        )
    except StoreError as error:
        form.add_error(None, f"{error.explanation} ({error.place})" if error.place else error.explanation)
        return None


def _masked(account: Account) -> dict[str, Any]:
    return {
        "account": account,
        "name": masked_name(account.label),
        "email": masked_email(account.email) if account.email else "",
    }


@never_cache
@require_GET
@requires(RightName.READ_RETENTION)
def erasure(request: HttpRequest, request_id: UUID) -> HttpResponse:
    found, now, user = found_request(request, request_id), timezone.now(), staff_of(request)
    context = frame_context(
        request, now=now, title=f"Erasure request {found.number}", subtitle=f"{found.realm.name}. {PURPOSE}"
    )
    handles = has_right(user, RightName.HANDLE_ERASURES)
    is_first = erasing.is_first_person(found, user)
    context |= {
        "erasure": found,
        "clock": clock_of(found, now=now),
        "stages": stages_of(found),
        "preview": [row | {"label": label_of(row["store"])} for row in found.preview or ()],
        "steps": steps_of(found),
        "names": [_shown_name(one.kind, one.value) for one in found.identifiers.exclude(value="")],
        "copies": found.hosted_copies.order_by("provider", "kind", "pk")[:200],
        "notes": found.notes.exclude(text="").select_related("author").order_by("pk"),
        "identity_form": IdentityForm(),
        "note_form": NoteForm(),
        "handles": handles,
        "may_approve": has_right(user, RightName.APPROVE_ERASURES) and not is_first,
        "is_own": is_first,
        "may_extend": handles and found.is_open and found.extended_at is None and now <= found.due_at,
        "may_run_again": handles
        and found.state in (RequestState.PARTLY_DONE, RequestState.APPROVED, RequestState.RUNNING),
        "has_receipt": ErasureReceipt.objects.filter(request=found).exists(),
    }
    return render(request, "console/retention/erasure.html", context)


@require_POST
@requires(RightName.READ_RETENTION)
def act(request: HttpRequest, request_id: UUID, action: str) -> HttpResponse:
    """One address for each thing that may be done; each checks its own right."""
    found, user, now = found_request(request, request_id), staff_of(request), timezone.now()
    right = RightName.APPROVE_ERASURES if action == "approve" else RightName.HANDLE_ERASURES
    if not has_right(user, right):
        refuse(why=f"Your role does not have the right to this: “{right.label}”.")
    note = request.POST.get("note", "")[:2000]
    given: dict[str, Any] = {
        "request_id": found.pk,
        "user": user,
        "now": now,
        "address": address_of(request),
    }
    try:
        if action == "identity":
            how = request.POST.get("how", "")
            if how not in IdentityCheck:
                raise Http404("There is no such way of checking.")
            erasing.check_identity(**given, how=IdentityCheck(how), note=note)
        elif action == "preview":
            erasing.prepare_preview(**given)
        elif action == "approve":
            erasing.approve_erasure(**given)
        elif action == "run":
            _run_again(request, found)
        elif action == "extend":
            erasing.extend_term(**given, note=note)
        else:
            erasing.withdraw(**given)
    except (StoreError, OverlapError) as error:
        messages.error(request, str(error))
    return HttpResponseRedirect(reverse("console:erasure", args=[found.pk]))


@transaction.atomic
def _run_again(request: HttpRequest, found: ErasureRequest) -> None:
    actor, now = actor_of(request), timezone.now()
    run = erasing.run_again(request_id=found.pk, actor=actor, now=now)
    log_access(
        actor=actor,
        action=AccessAction.JOB_START,
        target_kind=TargetKind.JOB,
        target_id=str(run.pk),
        realm_id=found.realm_id,
        now=now,
        address=address_of(request),
    )


@require_POST
@requires(RightName.HANDLE_ERASURES)
def answer_copy(request: HttpRequest, request_id: UUID, copy_id: int) -> HttpResponse:
    found = found_request(request, request_id)
    answer = request.POST.get("answer", "")
    if answer not in (CopyState.CONFIRMED, CopyState.REFUSED) or not found.hosted_copies.filter(pk=copy_id):
        raise Http404("There is no such copy, or no such answer.")
    erasing.answer_copy(
        copy_id=copy_id,
        state=CopyState(answer),
        user=staff_of(request),
        now=timezone.now(),
        address=address_of(request),
    )
    return HttpResponseRedirect(reverse("console:erasure", args=[found.pk]))


@never_cache
@require_GET
@requires(RightName.HANDLE_ERASURES)
def copies_csv(request: HttpRequest, request_id: UUID) -> StreamingHttpResponse:
    """Ids of copies at providers, for whoever deletes them there."""
    found = found_request(request, request_id)
    rows = list(found.hosted_copies.order_by("pk").values_list("provider", "kind", "reference", "state"))
    log_access(
        actor=actor_of(request),
        action=AccessAction.EXPORT,
        target_kind=TargetKind.ERASURE,
        target_id=found.number,
        realm_id=found.realm_id,
        row_count=len(rows),
        now=timezone.now(),
        address=address_of(request),
    )
    return csv_answer(
        name=f"{found.number}-copies", header=("provider", "kind", "id", "state"), rows=iter(rows)
    )


def _shown_name(kind: str, value: str) -> tuple[str, str]:
    is_address = kind == IdentifierKind.EMAIL or "@" in value
    return IdentifierKind(kind).label, masked_email(value) if is_address else masked_name(value)


def found_request(request: HttpRequest, request_id: UUID) -> ErasureRequest:
    found = requests_within(reach_of(staff_of(request))).filter(pk=request_id).first()
    if found is None:
        raise Http404("There is no such request in your realms.")
    return found
