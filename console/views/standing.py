"""How long a conversation stays: the policies that apply to it, what goes next, and why not yet."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from access.addresses import address_of
from access.permissions import holds as has_right
from access.permissions import requires, staff_of
from access.reach import reach_of
from access.rights import RightName
from console.frame import frame_context
from conversations.errors import StoreError
from conversations.models import Conversation
from retention.purging.archiving import LEFT_ALONE_DAYS
from retention.services.bringing_back import bring_back
from retention.standing import standing_of


@never_cache
@require_GET
@requires(RightName.READ_RETENTION)
def standing(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    conversation = _reachable(request, conversation_id)
    now = timezone.now()
    found = standing_of(conversation_id=conversation_id, now=now)
    context = frame_context(
        request, now=now, title="How long it stays", subtitle="Policies, holds, and what goes next and when."
    )
    context |= {
        "standing": found,
        "rows": [{"due": due, "is_blocked": found.is_blocked(due.data_class)} for due in found.policies],
        "conversation_id": conversation_id,
        "archive": getattr(conversation, "archive", None),
        "may_bring_back": has_right(request.user, RightName.EDIT_POLICIES),
        "redact_url": reverse("console:redact", args=[conversation_id])
        if has_right(request.user, RightName.EDIT_POLICIES)
        else "",
        "left_alone_days": LEFT_ALONE_DAYS,
        "hold_url": f"{reverse('console:place-hold')}?kind=conversation&target={conversation_id}"
        if has_right(request.user, RightName.PLACE_HOLDS)
        else "",
    }
    return render(request, "console/retention/standing.html", context)


@require_POST
@requires(RightName.EDIT_POLICIES)
def return_from_archive(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    _reachable(request, conversation_id)
    try:
        count = bring_back(
            conversation_id=conversation_id,
            user=staff_of(request),
            now=timezone.now(),
            address=address_of(request),
        )
    except StoreError as error:
        messages.error(request, f"Nothing was brought back: {error.explanation}.")
    else:
        messages.success(request, f"{count:,} blocks have their bytes back.")
    return HttpResponseRedirect(reverse("console:standing", args=[conversation_id]))


def _reachable(request: HttpRequest, conversation_id: UUID) -> Conversation:
    reach = reach_of(staff_of(request))
    found = Conversation.objects.filter(reach.within("account__realm_id"), pk=conversation_id)
    conversation = found.select_related("archive").first()
    if conversation is None:
        raise Http404("There is no such conversation in your realms.")
    return conversation
