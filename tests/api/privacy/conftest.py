"""A conversation, two people who made no key, and holds placed over HTTP."""

import pytest
from django.contrib.auth.models import User

from tests.api.effects import make_conversation
from tests.retention.conftest import folder

__all__ = ["folder"]

HOLDS = "/api/v1/holds"
MISSING = "0193a1b2-0000-7000-8000-00000000ffff"
# The key and its use; a transaction of its own as the reader (three); the list.
LIST_QUERIES = 6


@pytest.fixture
def conversation(realm):
    return make_conversation(realm)


@pytest.fixture
def people(db):
    """Two who did not make the key; the tests' own keys are made by the user 1."""
    return [User.objects.create_user(name, id=pk) for pk, name in ((101, "petra"), (102, "quentin"))]


def hold(client, **given):
    answer = client.post(HOLDS, {"matter": "M-7", **given})
    assert answer.status_code == 201, answer.content
    return answer.json()
