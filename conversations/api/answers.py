"""How conversations, messages and attempts are told.

Answers are built as plain values and not run through the serializers of `shapes`, which describe
them: a path of thousands of messages would spend its time there. Tests hold both against each other.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from conversations.models import Conversation, Generation, HeadMove, Summary
from conversations.public_ids import generation_id, message_id
from conversations.reads.head_log import Move
from conversations.reads.path import StoredMessage


def conversation_answer(found: Conversation) -> dict[str, Any]:
    return {
        "id": found.pk,
        "account": {"id": found.account_id, "external_id": found.account.external_id},
        "title": found.title,
        "source": found.source,
        "external_ref": found.external_ref,
        "parent_call_id": found.parent_call_id,
        "message_count": found.next_seq - 1,
        "head_id": _message(found.pk, found.head_seq),
        "head_move": found.head_move or 0,
        "has_fork": found.has_fork,
        "replay_obstacle": found.replay_obstacle or None,
        "started_at": found.started_at,
        "created_at": found.created_at,
        "last_activity_at": found.last_activity_at,
    }


def head_answer(conversation_id: UUID) -> dict[str, Any]:
    """Tell where the head stands now; one query."""
    seq, move = Conversation.objects.values_list("head_seq", "head_move").get(pk=conversation_id)
    return {"message_id": _message(conversation_id, seq), "move": move or 0}


def message_head_answer(
    conversation_id: UUID, stored: StoredMessage, *, branch_reason: str
) -> dict[str, Any]:
    draft = stored.draft
    return {
        "id": message_id(conversation_id, stored.seq),
        "seq": stored.seq,
        "parent_id": _message(conversation_id, stored.parent_seq),
        "answers_id": _message(conversation_id, stored.answers_seq),
        "role": draft.role,
        "dialect": stored.dialect,
        "branch_reason": branch_reason,
        "is_hidden": draft.is_hidden,
        "client_message_id": draft.client_message_id,
        "token_count": draft.token_count,
        "occurred_at": draft.occurred_at,
        "created_at": stored.created_at,
    }


def generation_answer(found: Generation) -> dict[str, Any]:
    conversation_id = found.conversation_id
    copied: Mapping[str, Any] = {name: getattr(found, name) for name in _COPIED}
    return {
        **copied,
        "id": generation_id(conversation_id, found.number),
        "conversation_id": conversation_id,
        "dialect": found.dialect or None,
        "match": found.match or None,
        "leaf_id": _message(conversation_id, found.leaf_seq),
        "message_id": _message(conversation_id, found.message_seq),
        "notes": [str(note) for note in found.notes],
        "tokens": {
            "uncached_input": found.uncached_input_tokens,
            "cache_read": found.cache_read_tokens,
            "cache_write_5m": found.cache_write_5m_tokens,
            "cache_write_1h": found.cache_write_1h_tokens,
            "output": found.output_tokens,
            "reasoning": found.reasoning_tokens,
        },
        "cost_usd": None if found.cost_usd is None else f"{found.cost_usd:f}",
        "body": {
            "proof": found.body_proof,
            "sha256": None if found.body_sha256 is None else bytes(found.body_sha256).hex(),
            "size": found.body_size,
            "is_redacted": found.is_redacted,
        },
    }


_COPIED = (
    *("number", "request_id", "attempt", "provider", "requested_model", "served_model", "service_tier"),
    *("prompt_version", "api_version", "beta_headers", "summary_id", "status", "stop_reason", "error_code"),
    *("http_status", "cost_confidence", "price_rule", "provider_response_id", "provider_request_id"),
    *("previous_response_id", "hosted_conversation_id", "first_token_ms", "total_ms"),
    *("created_at", "finished_at"),
)


def move_answer(conversation_id: UUID, move: HeadMove) -> dict[str, Any]:
    return {
        "number": move.number,
        "message_id": message_id(conversation_id, move.head_seq),
        "moved_at": move.moved_at,
        "by_kind": move.moved_by_kind,
        "by_id": move.moved_by_id,
        "reason": move.reason,
    }


def as_of_answer(
    conversation_id: UUID, *, moment: datetime, move: Move | None, seqs: Iterable[int]
) -> dict[str, Any]:
    return {
        "moment": moment,
        "head_move": move.number if move else None,
        "head_id": message_id(conversation_id, move.head_seq) if move else None,
        "is_head_gone": move is not None and move.head_seq not in seqs,
    }


def summary_answer(summary: Summary) -> dict[str, Any]:
    return {
        "id": summary.pk,
        "from_id": message_id(summary.conversation_id, summary.from_seq),
        "to_id": message_id(summary.conversation_id, summary.to_seq),
        "text": summary.text,
        "token_count": summary.token_count,
        "model": summary.model,
        "prompt_version": summary.prompt_version,
        "is_pinned": summary.is_pinned,
        "created_at": summary.created_at,
        "invalidated_at": summary.invalidated_at,
    }


def _message(conversation_id: UUID, seq: int | None) -> str | None:
    return None if seq is None else message_id(conversation_id, seq)
