"""A registered tool, a call that was begun, and the two requests that every effect takes."""

import pytest

from tests.api.effects import make_talk, register

EFFECTS = "/api/v1/effects"
CALL = "toolu_1"
MISSING = "0193a1b2-0000-7000-8000-00000000ffff"


@pytest.fixture
def registered(realm):
    register(realm)
    return realm


@pytest.fixture
def begun(client, registered):
    """What begin answered about a call that is recorded."""
    _, message = make_talk(registered)
    answer = client.post(EFFECTS, {"message_id": message, "call_id": CALL})
    assert answer.status_code == 200
    return answer.json()


def begin(client, message, call_id=CALL, **given):
    return client.post(EFFECTS, {"message_id": message, "call_id": call_id, **given})


def settle(client, effect, answer):
    """Hand in what the processor said of the effect with this id."""
    return client.post(f"{EFFECTS}/{effect}/settle", answer)
