"""Attempts: begun before the model is asked, ended with an answer, a failure or a cancellation."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from access.actors import Actor
from conversations.drafts import MessageDraft
from conversations.errors import ConflictError, NotFoundError, StoreError, explained
from conversations.identity import unit_digests
from conversations.models import Conversation, Generation, Message, ToolCall
from conversations.pricing.price import price_usage
from conversations.reads.path import path_seqs
from conversations.redaction.detectors import Span
from conversations.redaction.drafts import cut_message, cut_words, note_part_cuts
from conversations.services.composing import refuse_unfit
from conversations.services.placing import Run, lock_conversation, place
from conversations.vocabulary import BranchReason, Dialect, GenerationStatus, HeadMoveReason, Role
from conversations.wire.shapes import Usage


@dataclass(frozen=True, slots=True)
class Attempt:
    """What is known of an attempt when it begins."""

    request_id: str
    provider: str
    dialect: Dialect
    requested_model: str
    attempt: int = 1
    prompt_version: str = ""
    api_version: str = ""
    beta_headers: str = ""
    summary_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of an attempt when it ends. `message` is the answer, if one is kept."""

    status: GenerationStatus
    message: MessageDraft | None = None
    served_model: str = ""
    stop_reason: str = ""
    error_code: str = ""
    error_message: str = ""
    http_status: int | None = None
    usage: Usage | None = None
    service_tier: str = ""
    provider_response_id: str = ""
    provider_request_id: str = ""
    first_token_ms: int | None = None
    total_ms: int | None = None
    notes: list[str] = field(default_factory=list)


@transaction.atomic
def begin_generation(
    *, conversation_id: UUID, leaf_seq: int, attempt: Attempt, now: datetime
) -> tuple[Generation, bool]:
    """Write an attempt below a leaf before the model is asked; return it, and whether it is new.

    The same request id and attempt number return the stored attempt: the caller
    must not ask the model a second time. Used below another leaf they are refused.
    """
    lock_conversation(conversation_id)
    with explained(place=f"conversation {conversation_id}, message {leaf_seq}"):
        return _begin(conversation_id=conversation_id, leaf_seq=leaf_seq, attempt=attempt, now=now)


def _begin(
    *, conversation_id: UUID, leaf_seq: int, attempt: Attempt, now: datetime
) -> tuple[Generation, bool]:
    known = _begun(conversation_id=conversation_id, leaf_seq=leaf_seq, attempt=attempt)
    if known is not None:
        return known, False
    conversation = Conversation.objects.get(pk=conversation_id)
    generation = Generation(
        conversation_id=conversation_id,
        number=conversation.next_generation,
        leaf_seq=leaf_seq,
        status=GenerationStatus.STREAMING,
        created_at=now,
        **_columns(attempt),
    )
    if not Message.objects.filter(conversation_id=conversation_id, seq=leaf_seq).exists():
        raise NotFoundError(
            "no-message",
            "there is no such message",
            place=f"conversation {conversation_id}, message {leaf_seq}",
        )
    generation.save(force_insert=True)
    Conversation.objects.filter(pk=conversation_id).update(next_generation=conversation.next_generation + 1)
    return generation, True


@transaction.atomic
def finish_generation(
    *, conversation_id: UUID, number: int, outcome: Outcome, actor: Actor, now: datetime
) -> Generation:
    """End an attempt: with its answer below its leaf and the head on it, or without one.

    Where the customer has turned to another branch meanwhile, the head stays
    there. A failed attempt keeps its row, its tokens and its cost. Secrets that
    the account's switch names are cut out of the answer and of the error. Ending it
    again in the same way returns what is stored; in another way is refused.
    """
    lock_conversation(conversation_id)
    generation = _open_or_same(conversation_id=conversation_id, number=number, outcome=outcome)
    if generation.finished_at is not None:
        return generation
    cut, outcome = _cut(conversation_id, outcome)
    message, leaf_seq = outcome.message, generation.leaf_seq
    if message is not None and leaf_seq is not None:
        generation.message_seq = seq = _write_answer(
            generation, message, leaf_seq=leaf_seq, actor=actor, now=now
        )
        spans = [(seq, ordinal, span) for ordinal, span in cut]
        note_part_cuts(conversation_id=conversation_id, spans=spans, now=now)
    elif message is not None:
        outcome = replace(outcome, notes=[*outcome.notes, LEAF_IS_GONE])
    for name, value in _ending_columns(generation=generation, outcome=outcome, now=now).items():
        setattr(generation, name, value)
    with explained(place=f"conversation {conversation_id}, attempt {number}"):
        generation.save(force_update=True)
    return generation


def _cut(conversation_id: UUID, outcome: Outcome) -> tuple[Sequence[tuple[int, Span]], Outcome]:
    """Cut the answer and the error's words; say where the answer was cut."""
    error_message = cut_words(outcome.error_message, conversation_id=conversation_id)
    if outcome.message is None:
        return (), replace(outcome, error_message=error_message)
    cut = cut_message(conversation_id=conversation_id, message=outcome.message)
    return cut.spans, replace(outcome, message=cut.message, error_message=error_message)


def cancel_generation(*, conversation_id: UUID, number: int, actor: Actor, now: datetime) -> Generation:
    """End an attempt that nobody waits for any more."""
    return finish_generation(
        conversation_id=conversation_id,
        number=number,
        outcome=Outcome(status=GenerationStatus.CANCELLED),
        actor=actor,
        now=now,
    )


def _ending_columns(*, generation: Generation, outcome: Outcome, now: datetime) -> dict[str, Any]:
    """The columns that an ending sets: how it ended, what it took, what it cost."""
    usage = outcome.usage
    columns: dict[str, Any] = {
        "status": outcome.status,
        "finished_at": now,
        "served_model": outcome.served_model,
        "stop_reason": outcome.stop_reason,
        "error_code": outcome.error_code,
        "error_message": outcome.error_message,
        "http_status": outcome.http_status,
        "service_tier": outcome.service_tier,
        "provider_response_id": outcome.provider_response_id,
        "provider_request_id": outcome.provider_request_id,
        "first_token_ms": outcome.first_token_ms,
        "total_ms": outcome.total_ms,
        "notes": outcome.notes,
    }
    if usage is not None:
        columns |= usage_columns(usage)
    columns |= cost_columns(
        provider=generation.provider,
        model=outcome.served_model or generation.requested_model,
        usage=usage,
        at=generation.created_at,
        service_tier=outcome.service_tier,
        is_complete=outcome.status in WHOLE_ANSWERS,
    )
    return columns


def usage_columns(usage: Usage) -> dict[str, Any]:
    return {
        "uncached_input_tokens": usage.uncached_input,
        "cache_read_tokens": usage.cache_read,
        "cache_write_5m_tokens": usage.cache_write_5m,
        "cache_write_1h_tokens": usage.cache_write_1h,
        "output_tokens": usage.output,
        "reasoning_tokens": usage.reasoning,
        "usage": usage.raw,
    }


def cost_columns(
    *, provider: str, model: str, usage: Usage | None, at: datetime, service_tier: str, is_complete: bool
) -> dict[str, Any]:
    """The columns that a price sets; see `price_usage`."""
    price = price_usage(
        provider=provider,
        model=model,
        usage=usage,
        at=at,
        service_tier=service_tier,
        is_complete=is_complete,
    )
    return {"cost_usd": price.amount, "price_rule": price.rule, "cost_confidence": price.confidence.value}


# Said of an attempt whose branch was purged before its answer came.
LEAF_IS_GONE = "the branch was purged before the answer came; the answer is not kept"

# Endings after which the provider's own usage report has arrived.
WHOLE_ANSWERS = frozenset({GenerationStatus.COMPLETE, GenerationStatus.TRUNCATED, GenerationStatus.REFUSED})


def _begun(*, conversation_id: UUID, leaf_seq: int, attempt: Attempt) -> Generation | None:
    known = Generation.objects.filter(
        conversation_id=conversation_id, request_id=attempt.request_id, attempt=attempt.attempt
    ).first()
    # The leaf of a purged branch is forgotten; nothing can be said against it then.
    if known is not None and known.leaf_seq not in (leaf_seq, None):
        raise ConflictError(
            "request-id-used",
            f"this attempt of request {attempt.request_id!r} was made below message {known.leaf_seq}",
            place=f"conversation {conversation_id}, message {leaf_seq}",
        )
    return known


def _columns(attempt: Attempt) -> dict[str, Any]:
    return {name: getattr(attempt, name) for name in Attempt.__slots__}


def _open_or_same(*, conversation_id: UUID, number: int, outcome: Outcome) -> Generation:
    place_name = f"conversation {conversation_id}, attempt {number}"
    generation = Generation.objects.filter(conversation_id=conversation_id, number=number).first()
    if generation is None:
        raise NotFoundError("no-attempt", "there is no such attempt", place=place_name)
    if generation.finished_at is not None and generation.status != outcome.status:
        raise ConflictError(
            "attempt-ended",
            f"the attempt ended as {generation.status}; it cannot end as {outcome.status}",
            place=place_name,
        )
    if outcome.status in GenerationStatus.open():
        raise StoreError("no-ending", f"{outcome.status} is no way to end", place=place_name)
    return generation


def _write_answer(
    generation: Generation, message: MessageDraft, *, leaf_seq: int, actor: Actor, now: datetime
) -> int:
    """Write the answer below the attempt's leaf, as another version where one stands there already."""
    conversation_id = generation.conversation_id
    refuse_unfit(message, conversation_id=conversation_id)
    has_version = Message.objects.filter(
        conversation_id=conversation_id, parent_seq=leaf_seq, role=Role.ASSISTANT
    ).exists()
    run = Run(
        conversation_id=conversation_id,
        messages=[message],
        below=leaf_seq,
        actor=actor,
        now=now,
        dialect=Dialect(generation.dialect),
        head_reason=HeadMoveReason.REGENERATE if has_version else HeadMoveReason.APPEND,
        branch_reason=BranchReason.REGENERATE if has_version else BranchReason.CONTINUE,
        units=unit_digests(message),
        moves_head=_is_live(conversation_id=conversation_id, seq=leaf_seq),
    )
    seq = place(run).last_seq
    ToolCall.objects.filter(conversation_id=conversation_id, seq=seq).update(
        generation_number=generation.number
    )
    return seq


def _is_live(*, conversation_id: UUID, seq: int) -> bool:
    head_seq = Conversation.objects.values_list("head_seq", flat=True).get(pk=conversation_id)
    if head_seq is None or head_seq == seq:
        return True
    return seq in path_seqs(conversation_id=conversation_id, leaf_seq=head_seq)
