"""What the guard answers when an effect is to begin."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from ledger.models import GuardQuestion, ToolEffect
from ledger.services.questions import answer_question
from tests.api.answers import post_raw, refusal
from tests.api.effects import make_talk, register
from tests.api.ledger.conftest import CALL, EFFECTS, MISSING, begin


def test_a_call_that_is_not_recorded_sends_nothing(client, registered):
    talk, message = make_talk(registered)
    for body in (
        {"message_id": message, "call_id": "toolu_2"},
        {"message_id": f"{talk.id}.m99", "call_id": CALL},
        {"conversation_id": str(talk.id), "call_id": "toolu_2"},
    ):
        answer = client.post(EFFECTS, body)
        assert refusal(answer) == (404, "call-not-recorded")
    assert not ToolEffect.objects.exists()


def test_the_call_may_be_named_by_its_conversation_where_it_is_one(client, registered):
    talk, message = make_talk(registered)
    named = {"conversation_id": str(talk.id), "call_id": CALL}
    assert client.post(EFFECTS, named).json()["effect"]["message_id"] == message
    talk.answers(CALL)
    talk.says("Once more")
    talk.calls(CALL)
    assert refusal(client.post(EFFECTS, named)) == (409, "call-ambiguous")


def test_another_call_for_the_same_is_asked_about_and_a_person_answers(client, registered):
    talk, message = make_talk(registered)
    first = begin(client, message).json()
    talk.answers(CALL)
    talk.says("Again, please")
    again = f"{talk.id}.m{talk.calls('toolu_2')}"

    asked = begin(client, again, "toolu_2").json()
    assert (asked["decision"], asked["idempotency_key"], asked["effect"]) == ("ask", None, None)
    assert asked["earlier"]["id"] == first["effect"]["id"]
    address = f"/api/v1/questions/{asked['question']['id']}"
    assert client.get(address).json()["answer"] == "waiting"
    assert client.post(address, {"answer": "allowed"}).status_code == 405

    person = User.objects.create_user("ann")
    answer_question(question_id=asked["question"]["id"], is_allowed=True, user=person, now=timezone.now())
    assert client.get(address).json()["answer"] == "allowed"
    allowed = begin(client, again, "toolu_2").json()
    assert (allowed["decision"], allowed["reason"]) == ("proceed", "allowed")
    assert allowed["idempotency_key"] not in (None, first["idempotency_key"])
    assert client.get(address).json()["answer"] == "used"
    listed = client.get("/api/v1/questions?is_answered=true").json()
    assert [row["id"] for row in listed["data"]] == [asked["question"]["id"]]


def test_one_key_for_two_requests_is_a_conflict(client, begun):
    answer = begin(client, begun["effect"]["message_id"], amount_minor=5000, currency="usd")
    assert refusal(answer) == (409, "key-conflict")


def test_a_tool_that_touches_nothing_needs_no_key(client, realm):
    register(realm, "look_up", effectful="no", replay_policy="free")
    _, message = make_talk(realm, name="look_up")
    answer = begin(client, message).json()
    assert (answer["decision"], answer["reason"], answer["idempotency_key"]) == (
        "proceed",
        "not_effectful",
        None,
    )
    assert not ToolEffect.objects.exists()


HOSTILE_CALLS = [
    [],
    "x",
    None,
    {},
    {"message_id": "x", "call_id": CALL},
    {"message_id": 7, "call_id": CALL},
    {"call_id": CALL},
    {"conversation_id": "x", "call_id": CALL},
    {"conversation_id": MISSING, "call_id": "a\x00b"},
    {"conversation_id": MISSING, "call_id": "\ud800"},
    {"conversation_id": MISSING, "call_id": CALL, "amount_minor": 2**70},
    {"conversation_id": MISSING, "call_id": CALL, "amount_minor": 5},
    {"conversation_id": MISSING, "call_id": CALL, "operation": "steal"},
    {
        "conversation_id": MISSING,
        "call_id": CALL,
        "find_by": {"customer": 1e400},
    },
    {"conversation_id": MISSING, "call_id": CALL, "find_by": [1]},
]


@pytest.mark.parametrize("body", HOSTILE_CALLS)
def test_a_request_of_another_shape_is_refused_by_its_member(client, registered, body):
    answer = post_raw(client, EFFECTS, body)
    assert answer.status_code == 400
    assert answer.json()["rule"] in ("invalid", "parse-error")


@pytest.mark.parametrize(
    "arguments",
    [
        '{"amount": 1' + "0" * 30 + ', "currency": "usd"}',
        '{"amount": -1, "currency": "usd"}',
        '{"amount": 5, "currency": "dollars"}',
        '{"amount": 5, "currency": "\\u0000\\u0000\\u0000"}',
        '{"amount": {"a": 1}, "currency": 7}',
        '{"amount": 1.5, "currency": "usd"}',
        "[]",
    ],
)
def test_whatever_a_model_wrote_into_its_call_is_refused_in_good_words(client, registered, arguments):
    _, message = make_talk(registered, arguments=arguments)
    answer = begin(client, message)
    assert answer.status_code in (200, 422), answer.content


def test_unregistered_tools_are_asked_about(client, realm):
    _, message = make_talk(realm)
    answer = begin(client, message).json()
    assert (answer["decision"], answer["reason"]) == ("ask", "unregistered")
    assert GuardQuestion.objects.get().pk.hex == answer["question"]["id"].replace("-", "")
