"""The erasure desk: checking who asks, preview, approval by another person, the run."""

from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from access.actors import Actor, ActorKind
from access.models import ApiKey
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from conversations.errors import ConflictError, NotFoundError
from conversations.wire.literals import readable_copy
from jobs.models import JobRun
from jobs.services.starting import start_job
from retention.erasure.job import ERASE, prepare_steps
from retention.erasure.previewing import preview_erasure
from retention.errors import RetentionError, TwoPeopleError
from retention.models import ErasureNote, ErasureRequest, HostedCopy
from retention.vocabulary import (
    CopyState,
    IdentityCheck,
    RequestState,
)

EXTENSION = timedelta(days=60)


def find_request(*, number: str, realm_id: int) -> ErasureRequest:
    """Return the realm's request of that number; raises NotFoundError."""
    found = ErasureRequest.objects.filter(number=number, realm_id=realm_id).first()
    if found is None:
        raise NotFoundError("no-request", "there is no such request", place=number)
    return found


@transaction.atomic
def check_identity(
    *,
    request_id: UUID,
    how: IdentityCheck,
    user: User,
    now: datetime,
    note: str = "",
    address: str | None = None,
) -> ErasureRequest:
    """Note how it was made sure that the person asks; before that nothing is shown or approved."""
    request = _lock(request_id, RequestState.INTAKE)
    request.identity_check, request.identity_checked_by, request.identity_checked_at = how, user, now
    request.state = RequestState.IDENTIFIED
    request.save(update_fields=["identity_check", "identity_checked_by", "identity_checked_at", "state"])
    _write_note(request, user=user, note=note, now=now)
    log_change(request, user=user, now=now, address=address)
    return request


@transaction.atomic
def prepare_preview(
    *, request_id: UUID, user: User, now: datetime, address: str | None = None
) -> ErasureRequest:
    """Count what will be erased, pseudonymised and kept; what is approved is this count."""
    request = _lock(request_id, RequestState.IDENTIFIED, RequestState.PREVIEWED)
    request.preview, request.previewed_at = preview_erasure(request=request, now=now), now
    request.state = RequestState.PREVIEWED
    request.save(update_fields=["preview", "previewed_at", "state"])
    log_change(request, user=user, now=now, address=address)
    return request


@transaction.atomic
def approve_erasure(*, request_id: UUID, user: User, now: datetime, address: str | None = None) -> JobRun:
    """Approve and start; whoever took the request in cannot approve it.

    Where an application took it in, whoever checked the identity cannot: it takes two people too.
    """
    request = _lock(request_id, RequestState.PREVIEWED)
    if is_first_person(request, user):
        first = "took the request in" if request.taken_in_by_key_id is None else "checked the identity"
        raise TwoPeopleError("two-people", f"whoever {first} cannot approve it", place=request.number)
    request.approved_by, request.approved_at, request.state = user, now, RequestState.APPROVED
    request.save(update_fields=["approved_by", "approved_at", "state"])
    log_change(request, user=user, now=now, address=address)
    return start_erasure(request=request, requested_by=("staff", str(user.pk)), now=now)


def is_first_person(request: ErasureRequest, user: User) -> bool:
    """Tell whether this person is one of the two already."""
    if request.taken_in_by_key_id is not None:
        return request.identity_checked_by_id == user.pk
    return request.taken_in_by_id == user.pk


@transaction.atomic
def run_again(*, request_id: UUID, actor: Actor, now: datetime) -> JobRun:
    """Take every step again: for what failed, what was held, and what has come in since."""
    request = _lock(request_id, RequestState.APPROVED, RequestState.PARTLY_DONE, RequestState.RUNNING)
    return start_erasure(request=request, requested_by=(actor.kind, actor.id), now=now)


def start_erasure(*, request: ErasureRequest, requested_by: tuple[str, str], now: datetime) -> JobRun:
    prepare_steps(request)
    return start_job(
        kind=ERASE,
        scope=str(request.pk),
        requested_by=requested_by,
        now=now,
        reason=request.number,
        unit="steps",
    )


@transaction.atomic
def extend_term(
    *, request_id: UUID, user: User, now: datetime, note: str, address: str | None = None
) -> ErasureRequest:
    """Lengthen the clock, once, before it has run out, with a reason."""
    request = _lock(request_id, *RequestState)
    if request.extended_at is not None:
        raise ConflictError("extended", "the clock was extended already", place=request.number)
    if now > request.due_at or not request.is_open:
        raise ConflictError("too-late", "the clock has run out or the request is done", place=request.number)
    if not note.strip():
        raise RetentionError("no-reason", "an extension needs its reason", place=request.number)
    request.due_at, request.extended_at = request.due_at + EXTENSION, now
    request.save(update_fields=["due_at", "extended_at"])
    _write_note(request, user=user, note=note, now=now)
    log_change(request, user=user, now=now, address=address)
    return request


@transaction.atomic
def withdraw(*, request_id: UUID, user: User, now: datetime, address: str | None = None) -> ErasureRequest:
    """End a request before it was approved; nothing was erased, its names go."""
    request = _lock(request_id, RequestState.INTAKE, RequestState.IDENTIFIED, RequestState.PREVIEWED)
    request.identifiers.update(value="")
    request.notes.update(text="")
    request.state, request.finished_at = RequestState.WITHDRAWN, now
    request.save(update_fields=["state", "finished_at"])
    log_change(request, user=user, now=now, address=address)
    return request


@transaction.atomic
def answer_copy(
    *, copy_id: int, state: CopyState, user: User, now: datetime, address: str | None = None
) -> HostedCopy:
    """Write down what the provider said of a copy."""
    copy = HostedCopy.objects.select_for_update().get(pk=copy_id)
    copy.state, copy.confirmed_at, copy.confirmed_by = state, now, user
    copy.save(update_fields=["state", "confirmed_at", "confirmed_by"])
    log_change(copy.request, user=user, now=now, address=address)
    return copy


def _lock(request_id: UUID, *states: RequestState) -> ErasureRequest:
    request = ErasureRequest.objects.select_for_update().filter(pk=request_id).first()
    if request is None:
        raise NotFoundError("no-request", "there is no such request", place=f"request {request_id}")
    if request.state not in states:
        raise ConflictError(
            "wrong-state", f"the request is at “{request.get_state_display()}”", place=request.number
        )
    return request


def _write_note(request: ErasureRequest, *, user: User, note: str, now: datetime) -> None:
    if note.strip():
        ErasureNote.objects.create(
            request=request, author=user, text=readable_copy(note.strip())[:4000], written_at=now
        )


def _actor(user: User | None, key: ApiKey | None) -> Actor:
    if key is not None:
        return Actor(ActorKind.APPLICATION, str(key.pk))
    return Actor(ActorKind.JOB, "erasure") if user is None else Actor(ActorKind.STAFF, str(user.pk))


def log_change(
    request: ErasureRequest,
    *,
    now: datetime,
    address: str | None,
    user: User | None = None,
    key: ApiKey | None = None,
) -> None:
    log_access(
        actor=_actor(user, key),
        action=AccessAction.CHANGE,
        target_kind=TargetKind.ERASURE,
        target_id=request.number,
        realm_id=request.realm_id,
        now=now,
        address=address,
    )
