"""A turn begins: a message is written and an attempt at its answer opened, both or neither, once only.

A retry is known by the message's client id or by the attempt's request id, whichever it repeats, and
returns what is stored of both; a second model call is never begun for it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db import transaction

from access.actors import Actor
from conversations.drafts import MessageDraft
from conversations.errors import ConflictError, NotFoundError, StoreError
from conversations.models import Generation
from conversations.reads.path import read_messages
from conversations.redaction.drafts import cut_message
from conversations.services.appending import Appended, says_the_same
from conversations.services.generations import Attempt, Outcome, begin_generation, finish_generation
from conversations.services.placing import lock_conversation
from conversations.vocabulary import Dialect


@dataclass(frozen=True, slots=True)
class Turn:
    """The message as stored, and the attempt at its answer. Where `is_new` is false, do not ask the model."""

    message: Appended
    generation: Generation
    is_new: bool


@transaction.atomic
def open_turn(
    *,
    conversation_id: UUID,
    message: MessageDraft,
    write: Callable[[], Appended],
    attempt: Attempt,
    now: datetime,
) -> Turn:
    """Write `message` with `write` (an append, an edit, results) and open an attempt below it.

    The attempt's request id used for another message is refused; another attempt number of it is opened
    below the message that is stored. Of a message that only its client id says is stored already, the
    newest attempt is returned, under whatever request id it was opened.
    """
    lock_conversation(conversation_id)
    request = Generation.objects.filter(conversation_id=conversation_id, request_id=attempt.request_id)
    of_request = request.order_by("-number").first()
    if of_request is not None:
        written = _asked(of_request, message)
    else:
        written = write()
        newest = None if written.is_new else _newest_below(conversation_id, written.seq)
        if newest is not None:
            return Turn(written, newest, is_new=False)
    generation, is_new = begin_generation(
        conversation_id=conversation_id, leaf_seq=written.seq, attempt=attempt, now=now
    )
    return Turn(written, generation, is_new=is_new)


def _asked(known: Generation, message: MessageDraft) -> Appended:
    """Return the stored message that an attempt of the same request answers; refuse another one."""
    place = f"conversation {known.conversation_id}, attempt {known.number}"
    if known.leaf_seq is None:
        raise ConflictError("leaf-gone", "the branch of this attempt has been purged", place=place)
    [stored] = read_messages(conversation_id=known.conversation_id, seqs=[known.leaf_seq])
    is_other_id = message.client_message_id not in (None, stored.draft.client_message_id)
    # What is stored was cut, so what is sent again is compared as it would be.
    sent = cut_message(conversation_id=known.conversation_id, message=message).message
    if is_other_id or not says_the_same(stored, sent):
        raise ConflictError(
            "request-id-used",
            f"request {known.request_id!r} was made for another message",
            place=place,
        )
    return Appended(known.conversation_id, known.leaf_seq, is_new=False)


def _newest_below(conversation_id: UUID, seq: int) -> Generation | None:
    return (
        Generation.objects.filter(conversation_id=conversation_id, leaf_seq=seq).order_by("-number").first()
    )


@dataclass(frozen=True, slots=True)
class Again:
    """Another attempt at an answer; what is left out is as it was in the one before."""

    request_id: str
    attempt: int = 1
    model: str = ""
    dialect: Dialect | None = None
    provider: str = ""
    prompt_version: str | None = None
    api_version: str | None = None
    beta_headers: str | None = None
    summary_id: UUID | None = None


@transaction.atomic
def regenerate(
    *,
    conversation_id: UUID,
    number: int,
    again: Again,
    actor: Actor,
    now: datetime,
    outcome: Outcome | None = None,
) -> tuple[Generation, bool]:
    """Open another attempt below the leaf of attempt `number`; return it, and whether it is new.

    Finishing it writes the sibling answer and moves the head; with `outcome` both are done at once.
    The same request id returns the stored attempt.
    """
    lock_conversation(conversation_id)
    place = f"conversation {conversation_id}, attempt {number}"
    origin = Generation.objects.filter(conversation_id=conversation_id, number=number).first()
    if origin is None:
        raise NotFoundError("no-attempt", "there is no such attempt", place=place)
    if origin.leaf_seq is None:
        raise ConflictError("leaf-gone", "the branch of this attempt has been purged", place=place)
    generation, is_new = begin_generation(
        conversation_id=conversation_id,
        leaf_seq=origin.leaf_seq,
        attempt=_attempt_again(origin, again, place),
        now=now,
    )
    if outcome is None:
        return generation, is_new
    finished = finish_generation(
        conversation_id=conversation_id, number=generation.number, outcome=outcome, actor=actor, now=now
    )
    return finished, is_new


def _attempt_again(origin: Generation, again: Again, place: str) -> Attempt:
    dialect = again.dialect or (Dialect(origin.dialect) if origin.dialect else None)
    if dialect is None:
        raise StoreError("dialect-unknown", "the attempt before names no dialect: name one", place=place)
    attempt = Attempt(
        request_id=again.request_id,
        attempt=again.attempt,
        provider=again.provider or origin.provider,
        dialect=dialect,
        requested_model=again.model or origin.requested_model,
        prompt_version=origin.prompt_version,
        api_version=origin.api_version,
        beta_headers=origin.beta_headers,
        summary_id=again.summary_id or origin.summary_id,
    )
    told = {
        name: value
        for name in ("prompt_version", "api_version", "beta_headers")
        if (value := getattr(again, name)) is not None
    }
    return replace(attempt, **told)
