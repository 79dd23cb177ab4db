"""Placing and releasing legal holds.

`place_hold` first locks the row it names as a purge would lock it (account, or
conversation and then effect), and commits the hold under that lock. A purge
that had the row first has deleted it, and there is nothing left to hold; one
that comes later waits, and then asks.

A hold is placed, and its release asked for, by a person or by an application's key: exactly one
of `user` and `key`. It is released by a person.
"""

from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from access.actors import Actor, ActorKind
from access.models import ApiKey
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from conversations.errors import ConflictError, NotFoundError
from conversations.ids import mint_id
from conversations.models import Account, Conversation
from conversations.wire.literals import readable_copy
from ledger.models import ToolEffect
from retention.errors import RetentionError, TwoPeopleError
from retention.models import HoldEvent, HoldNote, LegalHold
from retention.vocabulary import HoldStep, HoldTarget

_REQUEST = ["release_requested_by", "release_requested_by_key", "release_requested_at"]


@transaction.atomic
def place_hold(
    *,
    matter: str,
    now: datetime,
    user: User | None = None,
    key: ApiKey | None = None,
    account_id: UUID | None = None,
    conversation_id: UUID | None = None,
    effect_id: UUID | None = None,
    note: str = "",
    address: str | None = None,
) -> LegalHold:
    """Hold exactly one of the three; raises NotFoundError where it has gone already.

    Several holds on one thing are several matters: it stays until the last is released.
    """
    if sum(given is not None for given in (account_id, conversation_id, effect_id)) != 1:
        raise RetentionError("hold-target", "a hold is on one account, one conversation or one effect")
    if not matter.strip():
        raise RetentionError("hold-matter", "a hold names its matter")
    kind = HoldTarget.ACCOUNT
    if account_id is not None:
        _lock_account(account_id)
    elif effect_id is not None:
        kind, conversation_id = HoldTarget.EFFECT, _lock_effect(effect_id)
    elif conversation_id is not None:
        _lock_conversation(conversation_id)
        kind = HoldTarget.CONVERSATION
    hold = LegalHold(
        id=mint_id(now),
        target_kind=kind,
        account_id=account_id,
        conversation_id=conversation_id,
        effect_id=effect_id,
        matter=readable_copy(matter.strip())[:64],
        placed_by=user,
        placed_by_key=key,
        placed_at=now,
    )
    hold.save(force_insert=True)
    _write_step(hold, HoldStep.PLACED, user=user, key=key, now=now, note=note, address=address)
    return hold


@transaction.atomic
def request_release(
    *,
    hold_id: UUID,
    now: datetime,
    user: User | None = None,
    key: ApiKey | None = None,
    note: str = "",
    address: str | None = None,
) -> LegalHold:
    """Ask for the release; the hold holds until a person approves who did not ask."""
    hold = _lock_open(hold_id)
    if hold.release_requested_at is not None:
        raise ConflictError("release-requested", "its release was asked for already", place=f"hold {hold.pk}")
    hold.release_requested_by, hold.release_requested_by_key, hold.release_requested_at = user, key, now
    hold.save(update_fields=_REQUEST)
    _write_step(hold, HoldStep.RELEASE_REQUESTED, user=user, key=key, now=now, note=note, address=address)
    return hold


@transaction.atomic
def approve_release(
    *, hold_id: UUID, user: User, now: datetime, note: str = "", address: str | None = None
) -> LegalHold:
    """End the hold; whoever asked for the release, or made the key that asked, cannot approve it."""
    hold = _lock_requested(hold_id)
    if asked_for_by(hold, user):
        first = "asked for the release" if hold.release_requested_by_id else "made the key that asked"
        raise TwoPeopleError("two-people", f"whoever {first} cannot approve it", place=f"hold {hold.pk}")
    hold.released_by, hold.released_at = user, now
    hold.save(update_fields=["released_by", "released_at"])
    _write_step(hold, HoldStep.RELEASED, user=user, now=now, note=note, address=address)
    return hold


def asked_for_by(hold: LegalHold, user: User) -> bool:
    """Tell whether the request is this person's: made in the console, or with a key that they made."""
    key = hold.release_requested_by_key
    return hold.release_requested_by_id == user.pk or (key is not None and key.created_by_id == str(user.pk))


@transaction.atomic
def refuse_release(
    *, hold_id: UUID, user: User, now: datetime, note: str = "", address: str | None = None
) -> LegalHold:
    """Put the request aside; the hold goes on, and may be asked about again."""
    hold = _lock_requested(hold_id)
    hold.release_requested_by, hold.release_requested_by_key, hold.release_requested_at = None, None, None
    hold.save(update_fields=_REQUEST)
    _write_step(hold, HoldStep.RELEASE_REFUSED, user=user, now=now, note=note, address=address)
    return hold


def _lock_account(account_id: UUID) -> None:
    locked = Account.objects.select_for_update(no_key=True).filter(pk=account_id)
    # list() runs the query: exists() and an unevaluated select_for_update lock nothing.
    if not list(locked.values_list("pk", flat=True)):
        raise NotFoundError("no-account", "there is no such account to hold", place=f"account {account_id}")


def _lock_conversation(conversation_id: UUID) -> None:
    locked = Conversation.objects.select_for_update(no_key=True).filter(pk=conversation_id)
    if not list(locked.values_list("pk", flat=True)):
        raise NotFoundError(
            "no-conversation",
            "there is no such conversation to hold",
            place=f"conversation {conversation_id}",
        )


def _lock_effect(effect_id: UUID) -> UUID:
    """Lock the effect's conversation, if it is still there, and then the effect."""
    effect = ToolEffect.objects.filter(pk=effect_id).only("conversation_id").first()
    if effect is None:
        raise NotFoundError("no-effect", "there is no such effect to hold", place=f"effect {effect_id}")
    conversation = Conversation.objects.select_for_update(no_key=True).filter(pk=effect.conversation_id)
    list(conversation.values_list("pk", flat=True))
    list(ToolEffect.objects.select_for_update(no_key=True).filter(pk=effect_id).values_list("pk", flat=True))
    return effect.conversation_id


def _lock_open(hold_id: UUID) -> LegalHold:
    hold = LegalHold.objects.select_for_update().filter(pk=hold_id).first()
    if hold is None:
        raise NotFoundError("no-hold", "there is no such hold", place=f"hold {hold_id}")
    if hold.released_at is not None:
        raise ConflictError("released", "the hold was released already", place=f"hold {hold_id}")
    return hold


def _lock_requested(hold_id: UUID) -> LegalHold:
    hold = _lock_open(hold_id)
    if hold.release_requested_at is None:
        raise ConflictError("not-requested", "nobody has asked for its release", place=f"hold {hold_id}")
    return hold


def _write_step(
    hold: LegalHold,
    step: HoldStep,
    *,
    now: datetime,
    user: User | None = None,
    key: ApiKey | None = None,
    note: str = "",
    address: str | None = None,
) -> None:
    """Write the line of the history; notes are written by people only."""
    HoldEvent.objects.create(hold=hold, step=step, by=user, by_key=key, at=now)
    if user is not None and note.strip():
        HoldNote.objects.create(hold=hold, author=user, text=readable_copy(note.strip()), written_at=now)
    log_access(
        actor=_actor(user, key),
        action=AccessAction.CHANGE,
        target_kind=TargetKind.HOLD,
        target_id=str(hold.pk),
        realm_id=_realm_of(hold),
        conversation_id=hold.conversation_id,
        account_id=hold.account_id,
        now=now,
        address=address,
    )


def _realm_of(hold: LegalHold) -> int | None:
    """Return the realm of what is held: a line of none is shown in every realm."""
    if hold.account_id is not None:
        return Account.objects.values_list("realm_id", flat=True).filter(pk=hold.account_id).first()
    if hold.effect_id is not None:
        return ToolEffect.objects.values_list("realm_id", flat=True).filter(pk=hold.effect_id).first()
    held = Conversation.objects.filter(pk__in=[hold.conversation_id])
    return held.values_list("account__realm_id", flat=True).first()


def _actor(user: User | None, key: ApiKey | None) -> Actor:
    if key is not None:
        return Actor(ActorKind.APPLICATION, str(key.pk))
    return Actor(ActorKind.STAFF, "" if user is None else str(user.pk))
