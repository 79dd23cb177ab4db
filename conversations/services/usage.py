"""What a provider says of an attempt's tokens after the attempt has ended."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from access.actors import Actor
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from conversations.errors import ConflictError, NotFoundError, StoreError, explained
from conversations.models import Account, Generation
from conversations.public_ids import generation_id
from conversations.services.generations import WHOLE_ANSWERS, cost_columns, usage_columns
from conversations.services.placing import lock_conversation
from conversations.wire.shapes import Usage

# Kept with the attempt: what is priced now is not what the answer itself reported.
CAME_LATE = "usage came in a late report"


@transaction.atomic
def correct_usage(
    *,
    conversation_id: UUID,
    number: int,
    usage: Usage,
    actor: Actor,
    now: datetime,
    service_tier: str = "",
) -> Generation:
    """Replace an ended attempt's estimate by the provider's late report, once; return the attempt.

    The same report again changes nothing. Refused for an attempt that still
    runs, for one whose own answer reported its usage, for a report that does
    not count both what went in and what came out, and for a second report
    that says otherwise. Who changed a cost, and when, stands in the access log.
    """
    place = f"conversation {conversation_id}, attempt {number}"
    if usage.uncached_input is None or usage.output is None:
        raise StoreError("usage-incomplete", "a report counts the tokens of input and of output", place=place)
    lock_conversation(conversation_id)
    generation = Generation.objects.filter(conversation_id=conversation_id, number=number).first()
    if generation is None:
        raise NotFoundError("no-attempt", "there is no such attempt", place=place)
    columns = usage_columns(usage)
    if CAME_LATE in generation.notes and _says_the_same(generation, columns):
        return generation
    _refuse_if_known(generation, place=place)
    tier = service_tier or generation.service_tier
    columns |= cost_columns(
        provider=generation.provider,
        model=generation.served_model or generation.requested_model,
        usage=usage,
        at=generation.created_at,
        service_tier=tier,
        is_complete=True,
    )
    columns |= {"service_tier": tier, "notes": [*generation.notes, CAME_LATE]}
    for name, value in columns.items():
        setattr(generation, name, value)
    with explained(place=place):
        generation.save(force_update=True, update_fields=list(columns))
    _log(generation, actor=actor, now=now)
    return generation


def _log(generation: Generation, *, actor: Actor, now: datetime) -> None:
    account = Account.objects.only("realm_id").get(conversations=generation.conversation_id)
    log_access(
        actor=actor,
        action=AccessAction.CHANGE,
        target_kind=TargetKind.ATTEMPT,
        target_id=generation_id(generation.conversation_id, generation.number),
        realm_id=account.realm_id,
        conversation_id=generation.conversation_id,
        account_id=account.pk,
        now=now,
    )


def _says_the_same(generation: Generation, columns: dict[str, Any]) -> bool:
    # The provider's own object is left out: its numbers are read back in another type.
    return all(getattr(generation, name) == value for name, value in columns.items() if name != "usage")


def _refuse_if_known(generation: Generation, *, place: str) -> None:
    if generation.finished_at is None:
        raise ConflictError("attempt-open", "the attempt has not ended yet", place=place)
    if CAME_LATE in generation.notes:
        raise ConflictError(
            "usage-corrected", "a late report was taken already, and it said otherwise", place=place
        )
    if generation.status in WHOLE_ANSWERS and generation.output_tokens is not None:
        raise ConflictError("usage-known", "the answer itself reported its usage", place=place)
