"""Desks of finance and support: refunds, questions of the guard, events of processors."""

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from access.addresses import address_of
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, holds, refuse, requires, staff_of
from access.reach import reach_of
from access.reading import reads_customers
from access.rights import RightName
from access.services.logging import log_access
from console.finance import desks
from console.frame import frame_context
from console.listing import list_context, read_page_by_id
from conversations.errors import StoreError
from jobs.services.starting import OverlapError, start_job
from ledger.models import Compensation, GuardQuestion, WebhookEvent
from ledger.services.questions import answer_question
from ledger.services.reopening import reopen_event


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def refunds(request: HttpRequest) -> HttpResponse:
    filters = desks.RefundFilter(request.GET, queryset=desks.refunds(reach_of(staff_of(request))))
    page = read_page_by_id(request, filters.qs if filters.is_valid() else Compensation.objects.none())
    context = frame_context(
        request,
        now=timezone.now(),
        title="Refunds",
        subtitle="Asked for by one person, approved by another, settled by what the processor says.",
    )
    context |= list_context(request.GET, page) | {
        "rows": desks.refund_rows(page.rows),
        "groups": desks.refund_groups(request.GET),
        "clear": reverse("console:refunds"),
        "widen": [("Every refund", reverse("console:refunds"))],
    }
    return render(request, "console/finance/refunds.html", context)


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def questions(request: HttpRequest) -> HttpResponse:
    query = request.GET.copy()
    # What waits comes first; who wants the answered ones asks for them.
    query.setdefault("is_answered", "false")
    filters = desks.QuestionFilter(query, queryset=desks.questions(reach_of(staff_of(request))))
    page = read_page_by_id(request, filters.qs if filters.is_valid() else GuardQuestion.objects.none())
    context = frame_context(
        request,
        now=timezone.now(),
        title="Questions of the guard",
        subtitle="Calls that would do again what was done before. An answer is for this call alone, once.",
    )
    context |= list_context(request.GET, page) | {
        "rows": desks.question_rows(page.rows, user=staff_of(request), now=timezone.now()),
        "groups": desks.question_groups(query),
        "is_open_list": query.get("is_answered") == "false",
        "may_answer": holds(request.user, RightName.ANSWER_QUESTIONS),
    }
    return render(request, "console/finance/questions.html", context)


@require_POST
@requires(RightName.ANSWER_QUESTIONS)
def answer(request: HttpRequest, question_id: UUID) -> HttpResponse:
    """Allow the call once, or refuse it."""
    found = GuardQuestion.objects.filter(pk=question_id).first()
    if found is None:
        raise Http404("Nothing is asked any more.")
    if not reach_of(staff_of(request)).holds(found.realm_id):
        refuse(why="This question belongs to a realm that you do not see.")
    answers = {"allow": True, "refuse": False}
    given = request.POST.get("answer", "")
    if given not in answers:
        raise BadRequest("an answer is “allow” or “refuse”")
    try:
        with transaction.atomic():
            answer_question(
                question_id=found.pk, is_allowed=answers[given], user=staff_of(request), now=timezone.now()
            )
            log_access(
                actor=actor_of(request),
                action=AccessAction.CHANGE,
                target_kind=TargetKind.EFFECT,
                target_id=f"question {found.pk}",
                realm_id=found.realm_id,
                conversation_id=found.conversation_id,
                now=timezone.now(),
                address=address_of(request),
            )
    except StoreError as error:
        messages.error(request, f"Nothing was changed: {error.explanation}.")
    return HttpResponseRedirect(reverse("console:questions"))


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
def events(request: HttpRequest) -> HttpResponse:
    _refuse_outside_all_realms(request)
    now = timezone.now()
    filters = desks.EventFilter(request.GET, queryset=WebhookEvent.objects.select_related("effect"))
    page = read_page_by_id(request, filters.qs if filters.is_valid() else WebhookEvent.objects.none())
    context = frame_context(
        request,
        now=now,
        title="Events of processors",
        subtitle="What processors told us, kept raw first and worked on by a worker, each once.",
    )
    context |= list_context(request.GET, page) | {
        "rows": [desks.EventRow(event) for event in page.rows],
        "groups": desks.event_groups(request.GET, now=now),
        "clear": reverse("console:events"),
        "widen": [("Every event", reverse("console:events"))],
        "may_reprocess": holds(request.user, RightName.REPROCESS_EVENTS),
    }
    return render(request, "console/finance/events.html", context)


@require_POST
@requires(RightName.REPROCESS_EVENTS)
def reprocess(request: HttpRequest, event_id: UUID) -> HttpResponse:
    """Put the event back among those that wait, and wake the worker that takes them up."""
    _refuse_outside_all_realms(request)
    actor = actor_of(request)
    now = timezone.now()
    try:
        with transaction.atomic():
            event = reopen_event(event_id=event_id)
            log_access(
                actor=actor,
                action=AccessAction.CHANGE,
                target_kind=TargetKind.EFFECT,
                target_id=f"event {event.pk}",
                now=now,
                address=address_of(request),
            )
        start_job(kind="ledger.work_events", requested_by=(actor.kind, actor.id), now=now)
    except StoreError as error:
        messages.error(request, f"Nothing was changed: {error.explanation}.")
    except OverlapError:
        messages.info(request, "A worker is at the events already; this one follows.")
    else:
        messages.success(request, "The event waits for a worker.")
    return HttpResponseRedirect(reverse("console:events") + "?is_waiting=true")


def _refuse_outside_all_realms(request: HttpRequest) -> None:
    """An event that nothing knows yet belongs to no realm, so only who sees all of them sees events."""
    if not reach_of(staff_of(request)).sees_all:
        refuse(why="Events of processors are for staff who see every realm.")
