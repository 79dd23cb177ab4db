"""Reconciliation runs: the list, starting one, one run with its report, its rows and its CSV."""

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
from access.permissions import actor_of, holds, requires, staff_of
from access.reach import reach_of
from access.reading import as_application, reading_rows, reads_customers
from access.rights import RightName
from access.services.logging import log_access
from console.csv import csv_answer
from console.filtering import filter_group
from console.frame import frame_context
from console.listing import list_context, read_page
from console.reconciling.forms import StartForm
from console.reconciling.printed import read_report
from console.reconciling.run_pages import CSV_HEADER, csv_rows, listed, own_rows, rows_of, show
from console.words import in_sentence_case
from conversations.errors import StoreError
from jobs.services.starting import OverlapError
from ledger.models import ReconciliationRun
from ledger.reconciliation.starting import Asked, repeat_reconciliation, start_reconciliation
from ledger.reconciliation.vocabulary import MatchedBy
from ledger.statements.vocabulary import LineKind

_SHOWN_MATCHES = [(code, label) for code, label in MatchedBy.choices if code != MatchedBy.OTHER_REALM.value]


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def reconciliations(request: HttpRequest) -> HttpResponse:
    page = read_page(request, listed(reach_of(staff_of(request))), moment="requested_at")
    context = frame_context(
        request,
        now=timezone.now(),
        title="Reconciliation runs",
        subtitle="Ledger, processor and conversations compared as of a moment. Same inputs, same report.",
    )
    context |= list_context(request.GET, page) | {
        "rows": rows_of(page.rows),
        "may_start": holds(request.user, RightName.RECONCILE),
    }
    return render(request, "console/reconciling/runs.html", context)


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def reconciliation(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = _found(request, run_id)
    context = frame_context(
        request,
        now=timezone.now(),
        title=f"Reconciliation {run.until:%Y-%m-%d}",
        subtitle=(
            "Does the ledger agree with the processor, currency by currency? "
            "Same inputs give the same run, byte for byte."
        ),
    )
    may_export = holds(request.user, RightName.EXPORT)
    context |= {
        "run": run,
        "shown": show(run) if run.finished_at else None,
        "took": run.finished_at - run.requested_at if run.finished_at else None,
        "digest": f"sha256:{bytes(run.report_sha256).hex()}" if run.report_sha256 else "",
        "may_start": holds(request.user, RightName.RECONCILE),
        "may_see_job": holds(request.user, RightName.READ_JOBS),
        "csv": reverse("console:reconciliation-csv", args=[run.pk]) if may_export and run.finished_at else "",
        "report": reverse("console:printed-reconciliation", args=[run.pk]) if may_export else "",
    }
    return render(request, "console/reconciling/run.html", context)


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def reconciliation_rows(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The rows of a run, by how they were matched."""
    run = _found(request, run_id)
    rows = own_rows(run)
    matched_by, kind = request.GET.get("matched_by", ""), request.GET.get("kind", "")
    if matched_by:
        rows = rows.filter(matched_by=matched_by)
    if kind:
        rows = rows.filter(kind=kind)
    if request.GET.get("is_waiting"):
        rows = rows.filter(is_waiting=True)
    page = read_page(request, rows, moment="occurred_at")
    context = frame_context(
        request, now=timezone.now(), title="Matched rows", subtitle="With the values that the run saw."
    )
    context |= list_context(request.GET, page) | {
        "run": run,
        "rows": page.rows,
        "groups": [
            filter_group(query=request.GET, name="matched_by", title="match", options=_SHOWN_MATCHES),
            filter_group(
                query=request.GET, name="kind", title="movement", options=in_sentence_case(LineKind.choices)
            ),
            filter_group(
                query=request.GET, name="is_waiting", title="waiting", options=(("true", "Only waiting"),)
            ),
        ],
        "clear": reverse("console:reconciliation-rows", args=[run.pk]),
    }
    return render(request, "console/reconciling/rows.html", context)


@never_cache
@require_GET
@requires(RightName.EXPORT)
@requires(RightName.READ_EFFECTS)
@reads_customers
def printed_reconciliation(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The report as it is printed; an export like any other, logged before it is shown."""
    run = _found(request, run_id)
    if run.finished_at is None:
        raise Http404("This run has no report yet.")
    _log_export(request, run)
    context = frame_context(
        request,
        now=timezone.now(),
        title=f"Report of {run.until:%Y-%m-%d}",
        subtitle="To be printed or kept as PDF. Opening it stands in the access log like an export.",
    )
    context |= {
        "run": run,
        "report": read_report(run),
        "digest": f"sha256:{bytes(run.report_sha256 or b'').hex()}",
        "csv": reverse("console:reconciliation-csv", args=[run.pk]),
    }
    return render(request, "console/reconciling/print.html", context)


@require_GET
@requires(RightName.EXPORT)
@requires(RightName.READ_EFFECTS)
def reconciliation_csv(request: HttpRequest, run_id: UUID) -> StreamingHttpResponse:
    """Stream every row of a run. The row in the access log stands before the first line leaves."""
    run = _found(request, run_id)
    _log_export(request, run)
    rows = reading_rows(reach_of(staff_of(request)), lambda: csv_rows(run))
    return csv_answer(name="reconciliation", header=CSV_HEADER, rows=rows)


@never_cache
@require_http_methods(["GET", "POST"])
@requires(RightName.RECONCILE)
def start(request: HttpRequest) -> HttpResponse:
    reach = reach_of(staff_of(request))
    form = StartForm(
        request.POST or None, reach=reach, initial={"statements": request.GET.getlist("statement")}
    )
    if form.is_valid():
        try:
            return _start(request, form)
        except StoreError as error:
            form.add_error(None, f"Nothing was started: {error.explanation}.")
        except OverlapError as error:
            form.add_error(None, f"Nothing was started: a run is already {error.run.state}.")
    context = frame_context(
        request,
        now=timezone.now(),
        title="Start a reconciliation",
        subtitle="Its inputs are frozen when you start it. It changes no effect and refunds nothing.",
    )
    return render(request, "console/reconciling/start.html", context | {"form": form})


def _start(request: HttpRequest, form: StartForm) -> HttpResponse:
    chosen = form.cleaned_data["statements"]
    asked = Asked(
        realm=chosen[0].realm,
        processor=chosen[0].processor,
        statement_ids=[statement.pk for statement in chosen],
        since=form.cleaned_data["since"],
        until=form.cleaned_data["until"],
        cut_off=form.cleaned_data["cut_off"],
        judges_unknown=not form.cleaned_data["leaves_unknown"],
    )
    with transaction.atomic():
        run = start_reconciliation(asked=asked, actor=actor_of(request), now=timezone.now())
        _log_start(request, run)
    return HttpResponseRedirect(reverse("console:reconciliation", args=[run.pk]))


@require_POST
@requires(RightName.RECONCILE)
def repeat(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Run it again with the inputs that it had: the digests must agree."""
    run = _found(request, run_id)
    try:
        with transaction.atomic():
            again = repeat_reconciliation(run_id=run.pk, actor=actor_of(request), now=timezone.now())
            _log_start(request, again)
    except OverlapError as error:
        messages.error(request, f"Nothing was started: a run is already {error.run.state}.")
        again = run
    return HttpResponseRedirect(reverse("console:reconciliation", args=[again.pk]))


def _found(request: HttpRequest, run_id: UUID) -> ReconciliationRun:
    reach = reach_of(staff_of(request))
    runs = ReconciliationRun.objects.filter(reach.within("realm_id"), pk=run_id)
    run = runs.select_related("realm", "job", "repeats").first()
    if run is None:
        raise Http404("There is no such run.")
    return run


def _log_export(request: HttpRequest, run: ReconciliationRun) -> None:
    with as_application():
        log_access(
            actor=actor_of(request),
            action=AccessAction.EXPORT,
            target_kind=TargetKind.LIST,
            target_id=f"reconciliation {run.pk}",
            realm_id=run.realm_id,
            now=timezone.now(),
            address=address_of(request),
        )


def _log_start(request: HttpRequest, run: ReconciliationRun) -> None:
    log_access(
        actor=actor_of(request),
        action=AccessAction.JOB_START,
        target_kind=TargetKind.JOB,
        target_id=f"reconciliation {run.pk}",
        realm_id=run.realm_id,
        now=timezone.now(),
        address=address_of(request),
    )
