"""Conversations written through the API alone: what each of its tests begins with."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.api.conversations.talking import ROOT, Talk


@pytest.fixture
def begin(client: APIClient) -> Callable[..., Talk]:
    numbers = count(1)

    def begin(caller: APIClient | None = None, **fields: Any) -> Talk:
        body = {"account": {"external_id": f"customer-{next(numbers)}"}, **fields}
        answer = (caller or client).post(f"{ROOT}/conversations", body)
        assert answer.status_code == 201, answer.json()
        return Talk(caller or client, answer.json()["id"])

    return begin


@pytest.fixture
def talk(begin: Callable[..., Talk]) -> Talk:
    """A conversation without messages."""
    return begin()


@pytest.fixture
def answered(talk: Talk) -> Talk:
    """1 a question, 2 its answer."""
    opened = talk.ask("Where is order 1042?")
    talk.finish(opened["generation"]["id"], "On its way.")
    return talk


@pytest.fixture
def opened(talk: Talk) -> Any:
    """The id of an attempt that nothing has answered yet."""
    return talk.ask("Where is order 1042?")["generation"]["id"]
