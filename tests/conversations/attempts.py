"""Attempts begun and ended, as short as a test needs them."""

from conversations.services.generations import Attempt, Outcome, begin_generation, finish_generation
from conversations.vocabulary import Dialect, GenerationStatus
from tests.conversations.conftest import CUSTOMER, NOW


def begin(conversation, *, leaf_seq=1, **fields):
    attempt = Attempt(
        **{
            "request_id": "r-1",
            "provider": "anthropic",
            "dialect": Dialect.ANTHROPIC_MESSAGES,
            "requested_model": "claude-sonnet-4-5",
            **fields,
        }
    )
    return begin_generation(conversation_id=conversation.pk, leaf_seq=leaf_seq, attempt=attempt, now=NOW)


def finish(conversation, *, number=1, status=GenerationStatus.COMPLETE, **fields):
    outcome = Outcome(status=status, **fields)
    return finish_generation(
        conversation_id=conversation.pk, number=number, outcome=outcome, actor=CUSTOMER, now=NOW
    )
