"""Single steps of a writer, as short as a test of many needs them."""

from conversations.services.appending import append_message
from conversations.services.generations import Attempt, Outcome, begin_generation, finish_generation
from conversations.vocabulary import Dialect, GenerationStatus
from tests.conversations.conftest import CUSTOMER, NOW

WRITERS = 32


def append(conversation, message, **fields):
    return append_message(
        **{"conversation_id": conversation.pk, "message": message, "actor": CUSTOMER, "now": NOW, **fields}
    )


def attempt(number=1, request="r"):
    return Attempt(
        request_id=f"{request}-{number}",
        provider="anthropic",
        dialect=Dialect.ANTHROPIC_MESSAGES,
        requested_model="claude-sonnet-4-5",
    )


def begin(conversation, leaf_seq, number=1):
    return begin_generation(
        conversation_id=conversation.pk, leaf_seq=leaf_seq, attempt=attempt(number), now=NOW
    )


def finish(conversation, number, message, **fields):
    outcome = Outcome(status=GenerationStatus.COMPLETE, message=message, **fields)
    return finish_generation(
        conversation_id=conversation.pk, number=number, outcome=outcome, actor=CUSTOMER, now=NOW
    )
