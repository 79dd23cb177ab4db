"""How long a conversation stays: the policies that apply to it, what goes next, and why not yet."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from access.permissions import holds as has_right
from access.permissions import requires, staff_of
from access.reach import reach_of
from access.rights import RightName
from console.frame import frame_context
from conversations.models import Conversation
from retention.standing import standing_of


@never_cache
@require_GET
@requires(RightName.READ_RETENTION)
def standing(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    reach = reach_of(staff_of(request))
    if not Conversation.objects.filter(reach.within("account__realm_id"), pk=conversation_id).exists():
        raise Http404("There is no such conversation in your realms.")
    now = timezone.now()
    found = standing_of(conversation_id=conversation_id, now=now)
    context = frame_context(
        request, now=now, title="How long it stays", subtitle="Policies, holds, and what goes next and when."
    )
    context |= {
        "standing": found,
        "rows": [{"due": due, "is_blocked": found.is_blocked(due.data_class)} for due in found.policies],
        "conversation_id": conversation_id,
        "hold_url": f"{reverse('console:place-hold')}?kind=conversation&target={conversation_id}"
        if has_right(request.user, RightName.PLACE_HOLDS)
        else "",
    }
    return render(request, "console/retention/standing.html", context)
