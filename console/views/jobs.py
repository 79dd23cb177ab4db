"""Jobs: the schedule, the runs, one run with its progress, and starting, stopping, resuming."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from access.addresses import address_of
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, holds, requires
from access.reach import reach_of
from access.rights import RightName
from access.services.logging import log_access
from console.frame import frame_context
from console.job_pages.forms import StartForm
from console.job_pages.kinds import KINDS, Kind
from console.job_pages.runs import RunFilter, filter_groups, find_run, listed, shown
from console.job_pages.schedule import read_schedule
from console.listing import list_context, read_page
from jobs.models import JobRun
from jobs.services.starting import OverlapError, start_job
from jobs.services.steering import request_stop, resume


@never_cache
@require_GET
@requires(RightName.READ_JOBS)
def jobs(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    schedule = read_schedule(now=now)
    scheduled = {entry.kind.name for entry in schedule}
    context = frame_context(
        request, now=now, title="Jobs", subtitle="What runs by itself, when it last ran, and how it ended."
    )
    context |= {
        "schedule": schedule,
        "others": [kind for kind in KINDS if kind.name not in scheduled],
        "recent": shown(
            list(listed().order_by("-queued_at", "-id")[:10]), reach=reach_of(request.user), now=now
        ),
        "may_start": holds(request.user, RightName.START_JOBS),
        "zone": timezone.get_current_timezone_name(),
    }
    return render(request, "console/jobs/schedule.html", context)


@never_cache
@require_GET
@requires(RightName.READ_JOBS)
def runs(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    filters = RunFilter(request.GET, queryset=listed())
    page = read_page(request, filters.qs if filters.is_valid() else JobRun.objects.none(), moment="queued_at")
    context = frame_context(
        request, now=now, title="Runs of jobs", subtitle="Every run, newest first, with how it ended."
    )
    context |= list_context(request.GET, page) | {
        "rows": shown(page.rows, reach=reach_of(request.user), now=now),
        "groups": filter_groups(request.GET),
        "clear": reverse("console:job-runs"),
        "widen": [("Every run", reverse("console:job-runs"))],
    }
    return render(request, "console/jobs/runs.html", context)


@never_cache
@require_GET
@requires(RightName.READ_JOBS)
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    found = _found(run_id)
    context = _run_context(request, found)
    context |= frame_context(
        request, now=context["now"], title=context["row"].kind.title, subtitle=context["row"].kind.purpose
    )
    return render(request, "console/jobs/run.html", context)


@never_cache
@require_GET
@requires(RightName.READ_JOBS)
def progress(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The moving part of a run's page, which asks for itself again while the run is active."""
    found = _found(run_id)
    response = render(request, "console/jobs/progress.html", _run_context(request, found))
    if not found.is_active and request.headers.get("HX-Target") == "progress":
        # It asked for itself and the run has ended meanwhile: the page around it has a report to show.
        response["HX-Refresh"] = "true"
    return response


@never_cache
@require_http_methods(["GET", "POST"])
@requires(RightName.START_JOBS)
def start(request: HttpRequest, name: str) -> HttpResponse:
    kind = next((kind for kind in KINDS if kind.name == name and kind.may_be_started), None)
    if kind is None:
        raise Http404("There is no such job to start.")
    form = StartForm(kind, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        return _start(request, kind, form)
    context = frame_context(request, now=timezone.now(), title=f"Run {kind.title}", subtitle=kind.purpose)
    status = 422 if form.is_bound else 200
    return render(request, "console/jobs/start.html", context | {"kind": kind, "form": form}, status=status)


@require_POST
@requires(RightName.STOP_JOBS)
def stop(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The run stops after the batch it is in; what it has done stays."""
    found = _found(run_id)
    with transaction.atomic():
        stopped = request_stop(run_id=found.pk, now=timezone.now())
        _log(request, found, AccessAction.CHANGE)
    if stopped.is_active:
        messages.info(request, "The run stops after the batch it is in.")
    return HttpResponseRedirect(reverse("console:job-run", args=[found.pk]))


@require_POST
@requires(RightName.STOP_JOBS)
def go_on(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The run is queued again and goes on from its last checkpoint."""
    found = _found(run_id)
    try:
        with transaction.atomic():
            resume(run_id=found.pk, now=timezone.now())
            _log(request, found, AccessAction.JOB_START)
    except OverlapError as error:
        messages.warning(request, "Another run of this job is active; this is that one.")
        return HttpResponseRedirect(reverse("console:job-run", args=[error.run.pk]))
    return HttpResponseRedirect(reverse("console:job-run", args=[found.pk]))


def _start(request: HttpRequest, kind: Kind, form: StartForm) -> HttpResponse:
    parameters = form.parameters
    actor = actor_of(request)
    try:
        with transaction.atomic():
            started = start_job(
                kind=kind.name,
                scope=", ".join(f"{name} {value}" for name, value in parameters.items())[:255],
                parameters=parameters,
                reason=form.cleaned_data["reason"],
                is_dry_run=bool(form.cleaned_data.get("is_dry_run")),
                requested_by=(actor.kind, actor.id),
                now=timezone.now(),
            )
            _log(request, started, AccessAction.JOB_START)
    except OverlapError as error:
        messages.warning(request, "A run of this job is active already; this is that one.")
        return HttpResponseRedirect(reverse("console:job-run", args=[error.run.pk]))
    return HttpResponseRedirect(reverse("console:job-run", args=[started.pk]))


def _found(run_id: UUID) -> JobRun:
    found = find_run(run_id)
    if found is None:
        raise Http404("There is no such run.")
    return found


def _run_context(request: HttpRequest, found: JobRun) -> dict[str, Any]:
    now = timezone.now()
    return {
        "now": now,
        "row": shown([found], reach=reach_of(request.user), now=now)[0],
        "may_stop": holds(request.user, RightName.STOP_JOBS),
        "may_start": holds(request.user, RightName.START_JOBS),
    }


def _log(request: HttpRequest, found: JobRun, action: AccessAction) -> None:
    log_access(
        actor=actor_of(request),
        action=action,
        target_kind=TargetKind.JOB,
        target_id=str(found.pk),
        now=timezone.now(),
        address=address_of(request),
    )
