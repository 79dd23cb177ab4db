"""Conversations of workload W that came in by recording: what record and replay are measured on."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING
from uuid import UUID

from evidence.clients import answered, request, spoken
from evidence.dialogue import Author
from evidence.habits import write_body

if TYPE_CHECKING:
    from conversations.models import Account

TURNS = 20
TITLE = "written by the recording measurement"


def calls(seed: int) -> Iterator[tuple[bytes, bytes]]:
    """Give the request body and the answer of each call of one conversation: 40 messages at its end."""
    author = Author(seed)
    history: list[dict[str, object]] = []
    for number, turn in enumerate(author.turns(TURNS)):
        history.append(spoken(turn))
        answer = answered(turn.answer, author)
        yield write_body(request(history, number), is_spaced=False), answer
        history.append({"role": "assistant", "content": json.loads(answer)["content"]})


def record(conversation_id: UUID, body: bytes, answer: bytes) -> int:
    """Record one call; return the attempt's number. Whose it is, the caller knows from its key."""
    from access.actors import Actor, ActorKind
    from conversations.services.recording import record_exchange
    from conversations.vocabulary import Dialect

    exchange = record_exchange(
        account=account(),
        request_body=body,
        response_body=answer,
        dialect=Dialect.ANTHROPIC_MESSAGES,
        http_status=200,
        conversation_id=conversation_id,
        actor=Actor(ActorKind.APPLICATION),
        now=datetime.now(UTC),
    )
    return exchange.generation_number


def start() -> UUID:
    from conversations.services.starting import start_conversation

    return start_conversation(account_id=account().pk, now=datetime.now(UTC), title=TITLE).pk


@cache
def account() -> "Account":
    from conversations.models import Account

    return Account.objects.filter(realm__slug="bench")[0]


def forget() -> None:
    """Leave the corpus as it was: other measurements weigh it."""
    from conversations.models import Conversation

    Conversation.objects.filter(title=TITLE).delete()
