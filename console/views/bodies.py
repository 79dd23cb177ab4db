"""Bytes as they were received or sent: parts, attachments, request bodies, quarantined nodes.

Each is a download or a page of text, never rendered as what it claims to be,
and each is a row in the access log, written before the bytes leave.
"""

from uuid import UUID

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from access.addresses import address_of
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, holds, refuse, requires, staff_of
from access.reading import reads_customers
from access.rights import RightName
from console.frame import frame_context
from console.opening import Opening, log_opening, opening_for
from console.thread.attachments import file_of
from console.thread.attempt_page import read_attempt_page
from console.thread.curl import curl_command
from console.thread.next_body import read_next_body
from console.thread.raw_part import RawPart, read_raw_part
from console.titles import title_of
from console.views.conversation import reachable
from conversations.models import Conversation, RawBody
from conversations.replay import ReplayError, request_body_of
from conversations.replay.bodies import DamagedError
from conversations.services.raw_bodies import open_raw_body
from conversations.vocabulary import PartType, RawClass

ATTACHMENTS = frozenset({PartType.IMAGE.value, PartType.DOCUMENT.value})


@never_cache
@require_GET
@requires(RightName.READ_BODIES)
@reads_customers
def part(request: HttpRequest, conversation_id: UUID, seq: int, ordinal: int) -> HttpResponse:
    """A text in full, for who may read it; any other block's bytes, for who may see raw payloads."""
    found, opening = _opened(request, conversation_id)
    try:
        shown = _raw_part(found, seq, ordinal)
    except DamagedError as error:
        return _not_replayable(request, found, error, title="The block cannot be read")
    is_plain = shown.type == PartType.TEXT
    if not is_plain and not holds(request.user, RightName.READ_RAW):
        refuse(why="Raw payloads are for auditors and administrators.")
    _log(request, found, opening, AccessAction.RAW, TargetKind.MESSAGE, f"{found.pk}#{seq}.{ordinal}")
    context = frame_context(
        request,
        now=timezone.now(),
        title=f"Message {seq}, block {ordinal}",
        subtitle=f"{title_of(found, is_open=opening.is_open)}: the block as it is stored.",
    )
    context |= {"conversation": found, "part": shown, "sees_raw": opening.sees_raw}
    return render(request, "console/conversation/part.html", context)


@never_cache
@require_GET
@requires(RightName.READ_BODIES)
@reads_customers
def attachment(request: HttpRequest, conversation_id: UUID, seq: int, ordinal: int) -> HttpResponse:
    found, opening = _opened(request, conversation_id)
    try:
        stored = _raw_part(found, seq, ordinal)
    except DamagedError as error:
        return _not_replayable(request, found, error, title="The file cannot be read")
    if stored.type not in ATTACHMENTS:
        raise Http404("This block is no image and no document.")
    _log(request, found, opening, AccessAction.DOWNLOAD, TargetKind.MESSAGE, f"{found.pk}#{seq}.{ordinal}")
    name, content = file_of(stored.payload, seq=seq, ordinal=ordinal)
    return download(name=name, content=content)


@never_cache
@require_GET
@requires(RightName.READ_CONVERSATIONS)
@reads_customers
def attempt(request: HttpRequest, conversation_id: UUID, number: int) -> HttpResponse:
    """Everything kept of one attempt but its bodies; those are downloads."""
    now = timezone.now()
    found = reachable(request, conversation_id)
    page = read_attempt_page(conversation_id=found.pk, number=number)
    if page is None:
        raise Http404("There is no such attempt.")
    opening = opening_for(user=staff_of(request), conversation=found, now=now)
    _log(request, found, opening, AccessAction.OPEN, TargetKind.ATTEMPT, f"{found.pk}/{number}")
    title = title_of(found, is_open=opening.is_open)
    context = frame_context(
        request, now=now, title=f"Attempt {number}", subtitle=f"{title}: what this attempt took."
    )
    context |= {"conversation": found, "page": page, "generation": page.generation, "opening": opening}
    context["conversation_title"] = title
    if opening.sees_raw and page.has_body and page.dialect:
        context["curl"] = curl_command(
            dialect=page.dialect,
            file_name=page.file_name,
            api_version=page.generation.api_version,
            beta_headers=page.generation.beta_headers,
        )
    return render(request, "console/conversation/attempt.html", context)


@never_cache
@require_GET
@requires(RightName.READ_RAW)
@reads_customers
def replay_body(request: HttpRequest, conversation_id: UUID, number: int) -> HttpResponse:
    """The exact bytes that were sent, or a page that says why they cannot be had."""
    found, opening = _opened(request, conversation_id)
    page = read_attempt_page(conversation_id=found.pk, number=number)
    if page is None:
        raise Http404("There is no such attempt.")
    try:
        body = request_body_of(conversation_id=found.pk, number=number)
    except ReplayError as error:
        return _not_replayable(request, found, error)
    _log(request, found, opening, AccessAction.DOWNLOAD, TargetKind.ATTEMPT, f"{found.pk}/{number}")
    return download(name=page.file_name, content=body)


@never_cache
@require_GET
@requires(RightName.READ_RAW)
@reads_customers
def next_body(request: HttpRequest, conversation_id: UUID, seq: int) -> HttpResponse:
    """What going on from a message would send: the page with what it would break, or the bytes."""
    found, opening = _opened(request, conversation_id)
    try:
        page = read_next_body(conversation_id=found.pk, seq=seq)
    except ReplayError as error:
        return _not_replayable(request, found, error)
    action = AccessAction.DOWNLOAD if "download" in request.GET else AccessAction.RAW
    _log(request, found, opening, action, TargetKind.MESSAGE, f"{found.pk}#{seq}")
    if action == AccessAction.DOWNLOAD:
        return download(name=f"next-{found.pk.hex[-8:]}-{seq}.json", content=page.body)
    title = title_of(found, is_open=opening.is_open)
    context = frame_context(
        request,
        now=timezone.now(),
        title=f"Next body after message {seq}",
        subtitle=f"{title}: what would be sent to go on from here. Nothing is sent.",
    )
    context |= {"conversation": found, "page": page, "seq": seq}
    return render(request, "console/conversation/next_body.html", context)


@never_cache
@require_GET
@requires(RightName.READ_RAW)
@reads_customers
def raw_body(request: HttpRequest, conversation_id: UUID, raw_id: UUID) -> HttpResponse:
    """A raw stream, response or quarantined node of this conversation, as it came."""
    found, opening = _opened(request, conversation_id)
    raw = RawBody.objects.filter(pk=raw_id, conversation_id=found.pk).first()
    if raw is None:
        raise Http404("There is no such raw body.")
    content = open_raw_body(raw)
    _log(request, found, opening, AccessAction.RAW, TargetKind.CONVERSATION, f"{found.pk}/{raw.pk}")
    extension = "txt" if raw.raw_class == RawClass.STREAM else "json"
    return download(name=f"{raw.raw_class}-{raw.pk.hex[-8:]}.{extension}", content=content)


def download(*, name: str, content: bytes) -> HttpResponse:
    """Bytes that a browser keeps and never shows; `name` is made by us, never by who sent them."""
    return HttpResponse(
        content,
        content_type="application/octet-stream",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'; sandbox",
        },
    )


def _opened(request: HttpRequest, conversation_id: UUID) -> tuple[Conversation, Opening]:
    """The conversation, if its texts are open to whoever asks; else a refusal, which is logged."""
    found = reachable(request, conversation_id)
    opening = opening_for(user=staff_of(request), conversation=found, now=timezone.now())
    if not opening.is_open:
        refuse(why="Texts and payloads are withheld: open the conversation and state a reason first.")
    return found, opening


def _raw_part(found: Conversation, seq: int, ordinal: int) -> RawPart:
    stored = read_raw_part(conversation_id=found.pk, seq=seq, ordinal=ordinal)
    if stored is None:
        raise Http404("There is no such block, or its bytes are gone.")
    return stored


def _not_replayable(
    request: HttpRequest, found: Conversation, error: ReplayError, *, title: str = "No longer replayable"
) -> HttpResponse:
    context = frame_context(request, now=timezone.now(), title=title, subtitle=title_of(found, is_open=True))
    context |= {"conversation": found, "error": error}
    return render(request, "console/conversation/not_replayable.html", context, status=409)


def _log(
    request: HttpRequest,
    found: Conversation,
    opening: Opening,
    action: AccessAction,
    kind: TargetKind,
    target_id: str,
) -> None:
    with transaction.atomic():
        log_opening(
            opening=opening,
            actor=actor_of(request),
            conversation=found,
            now=timezone.now(),
            address=address_of(request),
            action=action,
            target_kind=kind,
            target_id=target_id,
        )
