"""Effects: the list with its sums and CSV, and one effect with what may be decided on it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
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
from access.reading import as_application, reading_rows, reads_customers
from access.rights import RightName
from access.services.logging import log_access
from console.csv import csv_answer
from console.exporting import log_list_export
from console.filtering import without
from console.finance.chain import Chain, read_chain
from console.finance.effect_list import CSV_HEADER, EffectFilter, csv_rows, filter_groups, listed, rows_of
from console.finance.forms import DecisionForm, RefundForm
from console.frame import frame_context
from console.listing import kept, list_context, read_page
from conversations.errors import StoreError
from ledger.models import Compensation, ToolEffect
from ledger.querysets import totals
from ledger.services.compensating import (
    approve_compensation,
    left_of,
    reject_compensation,
    request_compensation,
)
from ledger.vocabulary import CompensationReason, EffectState, Operation

TYPED = ("amount", "currency", "tool", "processor", "account", "realm")
LINKED = ("state", "standing", "since", "until", "is_disputed")


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def effects(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    reach = reach_of(staff_of(request))
    filters = EffectFilter(request.GET, queryset=listed(reach))
    page = read_page(
        request, filters.qs if filters.is_valid() else ToolEffect.objects.none(), moment="requested_at"
    )
    context = frame_context(
        request, now=now, title="Effects", subtitle="What tools did outside, each answering to the processor."
    )
    may_export = holds(request.user, RightName.EXPORT)
    context |= list_context(request.GET, page) | {
        "rows": rows_of(page.rows),
        "form": filters.form,
        "typed": TYPED,
        "kept": kept(request.GET, LINKED),
        "groups": filter_groups(request.GET, now=now),
        "clear": reverse("console:effects"),
        "widen": [("Every effect", reverse("console:effects"))],
        "csv": reverse("console:effects-csv") + without(request.GET) if may_export else "",
        "totals_url": reverse("console:effect-totals") + without(request.GET),
        "shows_realms": reach.spans_realms,
    }
    return render(request, "console/finance/effects.html", context)


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def effect_totals(request: HttpRequest) -> HttpResponse:
    """The sums of the filtered list, one line for each currency; on demand, since they read it whole."""
    filters = EffectFilter(request.GET, queryset=listed(reach_of(staff_of(request))))
    if not filters.is_valid():
        raise BadRequest("a filter of this list cannot be read")
    context = {"totals": totals(filters.qs), "list_url": reverse("console:effects") + without(request.GET)}
    if getattr(request, "htmx", False):
        return render(request, "console/finance/totals.html", context)
    frame = frame_context(
        request,
        now=timezone.now(),
        title="Totals per currency",
        subtitle="Charges of the list as it is narrowed down. Currencies are never added to each other.",
    )
    return render(request, "console/finance/totals_page.html", frame | context)


@require_GET
@requires(RightName.EXPORT)
@requires(RightName.READ_EFFECTS)
def effects_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Stream the filtered list. The row in the access log stands before the first line leaves."""
    reach = reach_of(staff_of(request))
    filters = EffectFilter(request.GET, queryset=listed(reach))
    if not filters.is_valid():
        raise BadRequest("a filter of this list cannot be read")
    log_list_export(request, "effects")
    return csv_answer(
        name="effects", header=CSV_HEADER, rows=reading_rows(reach, lambda: csv_rows(filters.qs))
    )


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def effect(request: HttpRequest, effect_id: UUID) -> HttpResponse:
    found = reachable_effect(request, effect_id)
    log_effect(request, found, AccessAction.OPEN)
    return _show(request, found)


@require_POST
@requires(RightName.REQUEST_COMPENSATION)
def ask_refund(request: HttpRequest, effect_id: UUID) -> HttpResponse:
    """Ask for a refund; it is reserved on the effect until another person has decided."""
    found = reachable_effect(request, effect_id)
    form = RefundForm(request.POST, currency=found.currency, left=left_of(found))
    if not form.is_valid():
        return _show(request, found, refund_form=form, status=422)
    try:
        with transaction.atomic():
            request_compensation(
                effect_id=found.pk,
                amount_minor=form.cleaned_data["amount"],
                reason=CompensationReason(form.cleaned_data["reason"]),
                note=form.cleaned_data["note"],
                user=staff_of(request),
                now=timezone.now(),
            )
            log_effect(request, found, AccessAction.CHANGE)
    except StoreError as error:
        form.add_error(None, error.explanation)
        return _show(request, found, refund_form=form, status=409)
    messages.success(request, "The refund is asked for. It is sent once another person approves it.")
    return HttpResponseRedirect(reverse("console:effect", args=[found.pk]))


@require_POST
@requires(RightName.APPROVE_COMPENSATION)
def decide_refund(request: HttpRequest, compensation_id: UUID) -> HttpResponse:
    """Approve or refuse what another person asked for; a worker sends what is approved."""
    asked = Compensation.objects.filter(pk=compensation_id).values_list("effect_id", flat=True).first()
    if asked is None:
        raise Http404("There is no such request.")
    found = reachable_effect(request, asked)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        raise BadRequest("a decision is “approve” or “refuse”")
    decide = approve_compensation if form.cleaned_data["decision"] == "approve" else reject_compensation
    try:
        with transaction.atomic():
            decide(
                compensation_id=compensation_id,
                user=staff_of(request),
                now=timezone.now(),
                note=form.cleaned_data["remark"],
            )
            log_effect(request, found, AccessAction.CHANGE)
    except StoreError as error:
        messages.error(request, f"Nothing was decided: {error.explanation}.")
    return HttpResponseRedirect(reverse("console:effect", args=[found.pk]))


def reachable_effect(request: HttpRequest, effect_id: UUID) -> ToolEffect:
    """Return the effect if the member of staff sees its realm; a refusal is logged."""
    # Read past the policies, to tell what is not there from what lies in another realm.
    with as_application():
        found = ToolEffect.objects.select_related("account", "realm").filter(pk=effect_id).first()
    if found is None:
        raise Http404("There is no such effect.")
    if not reach_of(staff_of(request)).holds(found.realm_id):
        refuse(why="This effect belongs to a realm that you do not see.")
    return found


def log_effect(request: HttpRequest, found: ToolEffect, action: AccessAction) -> None:
    log_access(
        actor=actor_of(request),
        action=action,
        target_kind=TargetKind.EFFECT,
        target_id=str(found.pk),
        realm_id=found.realm_id,
        conversation_id=found.conversation_id,
        account_id=found.account_id,
        now=timezone.now(),
        address=address_of(request),
    )


def _show(
    request: HttpRequest, found: ToolEffect, *, refund_form: RefundForm | None = None, status: int = 200
) -> HttpResponse:
    chain = read_chain(found)
    title = f"{found.get_operation_display()} by {found.tool_name}"
    context = frame_context(request, now=timezone.now(), title=title, subtitle="From the call to the money.")
    context |= {"chain": chain, "effect": found} | _decidable(request, chain, refund_form)
    return render(request, "console/finance/effect.html", context, status=status)


def _decidable(request: HttpRequest, chain: Chain, form: RefundForm | None) -> dict[str, Any]:
    """What whoever looks may decide: a waiting request of another, or a refund to ask for."""
    waiting = chain.waiting
    is_own = waiting is not None and waiting.compensation.requested_by_id == request.user.pk
    may_decide = waiting is not None and holds(request.user, RightName.APPROVE_COMPENSATION) and not is_own
    found = chain.effect
    may_ask = (
        holds(request.user, RightName.REQUEST_COMPENSATION)
        and (found.operation, found.state) == (Operation.CHARGE, EffectState.APPLIED)
        and chain.left > 0
    )
    if may_ask and form is None:
        form = RefundForm(currency=found.currency, left=chain.left)
    return {
        "waiting": waiting,
        "may_decide": may_decide,
        "is_own_request": is_own,
        "decision_form": DecisionForm(),
        "refund_form": form if may_ask else None,
        "sees_costs": holds(request.user, RightName.READ_COSTS),
    }
