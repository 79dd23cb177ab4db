"""The same call again, or at the same time: one go, and never an answer out of a drawer."""

from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from conversations.models import Message
from ledger.models import EffectMove, ToolEffect
from tests.api.answers import refusal
from tests.api.effects import intent, make_talk, response
from tests.api.ledger.conftest import CALL, EFFECTS, begin, settle
from tests.conversations.writers import at_once


def test_the_same_call_is_answered_by_what_became_of_it(client, begun):
    effect = begun["effect"]["id"]
    message = begun["effect"]["message_id"]
    again = begin(client, message).json()
    assert (again["decision"], again["reason"]) == ("resume", "same_call")
    assert again["idempotency_key"] == begun["idempotency_key"]

    settle(client, effect, response(intent()))
    replayed = begin(client, message).json()
    assert (replayed["decision"], replayed["idempotency_key"], replayed["metadata"]) == ("replay", None, None)
    assert (replayed["effect"]["external_ref"], replayed["effect"]["state"]) == ("ch_1", "applied")
    refused = client.post(f"{EFFECTS}/{effect}/sent")
    assert refusal(refused) == (409, "effect-settled")


def test_an_answer_is_never_kept_for_an_idempotency_key(issue, client_of, registered, monkeypatch):
    client = client_of(issue(expires_at=None))
    _, message = make_talk(registered)
    headers = {"HTTP_IDEMPOTENCY_KEY": "same"}
    first = client.post(EFFECTS, {"message_id": message, "call_id": CALL}, **headers)
    effect = first.json()["effect"]["id"]
    client.post(f"{EFFECTS}/{effect}/sent", **headers)
    later = timezone.now() + timedelta(hours=25)
    monkeypatch.setattr(timezone, "now", lambda: later)

    again = client.post(EFFECTS, {"message_id": message, "call_id": CALL}, **headers).json()
    assert (again["decision"], again["reason"]) == ("ask", "key_expired")
    assert again["idempotency_key"] is None
    sent = client.post(f"{EFFECTS}/{effect}/sent", **headers)
    assert refusal(sent) == (409, "key-expired")


@pytest.mark.django_db(transaction=True)
def test_two_branches_that_begin_at_once_get_one_go(client, registered):
    talk, message = make_talk(registered)
    asked = Message.objects.get(conversation_id=talk.id, seq=1)
    other = f"{talk.id}.m{talk.calls('toolu_2', below=talk.edits(asked.seq))}"
    wanted = [(message, CALL), (other, "toolu_2")] * 4

    answers = at_once(*[partial(begin, client, message, call_id) for message, call_id in wanted])

    decisions = [answer.json()["decision"] for answer in answers]
    assert decisions.count("proceed") == 1
    assert set(decisions) <= {"proceed", "resume", "ask"}
    assert ToolEffect.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_answer_handed_in_twice_at_once_moves_the_state_once(client, begun):
    answers = at_once(*[partial(settle, client, begun["effect"]["id"], response(intent()))] * 6)

    assert sorted(answer.json()["has_moved"] for answer in answers) == [False] * 5 + [True]
    assert EffectMove.objects.count() == 2
