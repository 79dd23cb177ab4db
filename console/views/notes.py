"""Staff notes, and the personal details of a conversation's account."""

from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from access.addresses import address_of
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, requires, staff_of
from access.rights import RightName
from access.services.logging import log_access
from console.forms import NoteForm
from console.frame import frame_context
from console.thread.links import conversation_url
from console.views.conversation import reachable
from conversations.services.notes import write_note


@require_POST
@requires(RightName.WRITE_NOTES)
def add_note(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    found = reachable(request, conversation_id)
    form = NoteForm(request.POST)
    if not form.is_valid():
        messages.error(request, "The note was not kept: it needs 1 to 4,000 characters.")
        return HttpResponseRedirect(conversation_url(found.pk))
    now = timezone.now()
    with transaction.atomic():
        note = write_note(
            conversation_id=found.pk,
            author=staff_of(request),
            text=form.cleaned_data["text"],
            ticket=form.cleaned_data["ticket"],
            now=now,
        )
        log_access(
            actor=actor_of(request),
            action=AccessAction.CHANGE,
            target_kind=TargetKind.CONVERSATION,
            target_id=f"note {note.pk}",
            realm_id=found.account.realm_id,
            conversation_id=found.pk,
            account_id=found.account_id,
            now=now,
            address=address_of(request),
        )
    return HttpResponseRedirect(f"{conversation_url(found.pk)}#note-{note.pk}")


@never_cache
@require_POST
@requires(RightName.REVEAL_PERSONAL)
def reveal_personal(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Show the customer's name and e-mail once, with its row in the log; for htmx only the details."""
    now = timezone.now()
    found = reachable(request, conversation_id)
    log_access(
        actor=actor_of(request),
        action=AccessAction.REVEAL,
        target_kind=TargetKind.ACCOUNT,
        target_id=str(found.account_id),
        realm_id=found.account.realm_id,
        conversation_id=found.pk,
        account_id=found.account_id,
        now=now,
        address=address_of(request),
    )
    if getattr(request, "htmx", False):
        return render(request, "console/conversation/personal.html", {"account": found.account})
    context = frame_context(
        request, now=now, title="Personal details", subtitle="Shown once; the access log says so."
    )
    return render(
        request,
        "console/conversation/personal_page.html",
        {**context, "account": found.account, "conversation": found},
    )
