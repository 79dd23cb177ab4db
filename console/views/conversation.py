"""One conversation: its page, further pieces of its thread, the gate before its texts."""

from uuid import UUID

from django.conf import settings
from django.core.exceptions import BadRequest
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from access.addresses import address_of
from access.models.log import TargetKind
from access.permissions import actor_of, refuse, requires, staff_of
from access.reach import reach_of
from access.reading import as_application, reads_customers
from access.rights import RightName
from access.services.reasons import close_reasons, state_reason
from console.forms import ReasonForm
from console.opening import log_opening, opening_for
from console.thread.context import page_context, piece_context
from console.thread.links import conversation_url
from console.thread.page import Asked, read_page, read_piece
from conversations.models import Conversation


@never_cache
@require_GET
@requires(RightName.READ_CONVERSATIONS)
@reads_customers
def conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    return _show(request, conversation_id, ReasonForm())


@never_cache
@require_GET
@requires(RightName.READ_CONVERSATIONS)
@reads_customers
def thread_piece(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Another stretch of the thread, for htmx to put in place of a fold."""
    now = timezone.now()
    start, end = number_in(request, "from"), number_in(request, "to")
    if start is None or end is None or not 0 <= start < end:
        raise BadRequest("a piece of a thread is named by `from` and `to`")
    found = reachable(request, conversation_id)
    with transaction.atomic():
        opening = opening_for(user=staff_of(request), conversation=found, now=now)
        piece = read_piece(conversation=found, opening=opening, asked=asked_of(request), start=start, end=end)
        log_opening(
            opening=opening,
            actor=actor_of(request),
            conversation=found,
            now=now,
            address=address_of(request),
            target_kind=TargetKind.MESSAGE if opening.is_open else TargetKind.PAGE,
            target_id=f"{found.pk}#{piece.turns[0].seq}-{piece.turns[-1].seq}" if piece.turns else "",
        )
    context = piece_context(request, found, piece, opening=opening, asked=asked_of(request))
    return render(request, "console/conversation/turns.html", context)


@require_POST
@requires(RightName.READ_BODIES)
def open_conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """State a reason; the page opens with the texts, at the same place."""
    found = reachable(request, conversation_id)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _show(request, conversation_id, form, status=422)
    state_reason(
        user=staff_of(request),
        conversation_id=found.pk,
        ticket=form.cleaned_data["ticket"],
        words=form.cleaned_data["words"],
        now=timezone.now(),
        address=address_of(request),
    )
    return HttpResponseRedirect(_same_place(request, found))


@require_POST
@requires(RightName.READ_CONVERSATIONS)
def close_conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    found = reachable(request, conversation_id)
    close_reasons(
        user=staff_of(request), conversation_id=found.pk, now=timezone.now(), address=address_of(request)
    )
    return HttpResponseRedirect(_same_place(request, found))


def reachable(request: HttpRequest, conversation_id: UUID) -> Conversation:
    """Return the conversation if the member of staff sees its realm; a refusal is logged."""
    # Read past the policies, to tell what is not there from what lies in another realm.
    with as_application():
        conversations = Conversation.objects.select_related("account__realm", "archive")
        found = conversations.filter(pk=conversation_id).first()
    if found is None:
        raise Http404("There is no such conversation; it may have been purged.")
    if not reach_of(request.user).holds(found.account.realm_id):
        refuse(why="This conversation belongs to a realm that you do not see.")
    return found


def asked_of(request: HttpRequest) -> Asked:
    return Asked(
        message=number_in(request, "m"),
        move=request.GET.get("move", ""),
        at=request.GET.get("at", "")[:80],
        all_moves=request.GET.get("moves") == "all",
        moves_before=number_in(request, "before"),
        found=request.GET.get("found", "")[:255],
    )


def _show(
    request: HttpRequest, conversation_id: UUID, form: ReasonForm, *, status: int = 200
) -> HttpResponse:
    now = timezone.now()
    found = reachable(request, conversation_id)
    asked = asked_of(request)
    with transaction.atomic():
        opening = opening_for(user=staff_of(request), conversation=found, now=now)
        page = read_page(conversation=found, opening=opening, asked=asked)
        log_opening(
            opening=opening,
            actor=actor_of(request),
            conversation=found,
            now=now,
            address=address_of(request),
        )
    context = page_context(request, page, opening=opening, asked=asked, now=now)
    context |= {"reason_form": form, "reason_hours": settings.STATED_REASON_HOURS}
    return render(request, "console/conversation/page.html", context, status=status)


def _same_place(request: HttpRequest, found: Conversation) -> str:
    asked = asked_of(request)
    return conversation_url(found.pk, m=asked.message, move=asked.move, at=asked.at, found=asked.found)


def number_in(request: HttpRequest, name: str) -> int | None:
    value = request.GET.get(name, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) <= 9 else None
