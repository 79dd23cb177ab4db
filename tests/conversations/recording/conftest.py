"""Recording as an application does it: one call after another, in one conversation or in none."""

from collections.abc import Callable
from datetime import timedelta
from itertools import count

import pytest

from access.actors import Actor, ActorKind
from conversations.models import Account
from conversations.services.recording import RecordedExchange, record_exchange
from conversations.vocabulary import Dialect
from tests.conversations.conftest import NOW
from tests.conversations.recording.exchanges import answer

RECORDER = Actor(kind=ActorKind.APPLICATION, id="shop")


@pytest.fixture
def record(account: Account) -> Callable[..., RecordedExchange]:
    """Record a body and an answer; `after` is the exchange whose conversation is named."""
    moments = count()

    def record_one(request_body, response_body="Fine.", *, after=None, **fields) -> RecordedExchange:
        if isinstance(response_body, str):
            response_body = answer(response_body)
        if after is not None:
            fields["conversation_id"] = after.conversation_id
        fields = {
            "account": account,
            "dialect": Dialect.ANTHROPIC_MESSAGES,
            "http_status": 200,
            "actor": RECORDER,
            "now": NOW + timedelta(seconds=next(moments)),
            **fields,
        }
        return record_exchange(request_body=request_body, response_body=response_body, **fields)

    return record_one
