"""An effect is settled by what the processor said, and by nothing else."""

import base64

import pytest

from access.models import AccessEntry, Scope
from conversations.services.raw_bodies import open_raw_body
from ledger.models import Contradiction, EffectMove, ToolEffect
from tests.api.answers import refusal
from tests.api.effects import intent, make_talk, register, response
from tests.api.ledger.conftest import CALL, EFFECTS, begin, settle


def test_a_charge_from_begin_to_the_processors_answer(client, issue, client_of, registered):
    issued = issue(scopes=[Scope.EFFECTS])
    application = client_of(issued)
    talk, message = make_talk(registered)

    begun = begin(application, message, find_by={"customer": "cus_9"}).json()
    assert (begun["decision"], begun["reason"]) == ("proceed", "first")
    effect = begun["effect"]
    assert begun["idempotency_key"] == effect["idempotency_key"]
    assert begun["metadata"] == {
        "counterfoil_effect": effect["id"],
        "counterfoil_key": begun["idempotency_key"],
    }
    assert (effect["conversation_id"], effect["message_id"], effect["call_id"]) == (
        str(talk.id),
        message,
        CALL,
    )
    assert (effect["amount_minor"], effect["currency"], effect["state"]) == (1900, "usd", "pending")
    assert effect["sent_at"] is None

    sent = application.post(f"{EFFECTS}/{effect['id']}/sent")
    assert sent.status_code == 200
    assert sent.json()["sent_at"] is not None

    body = intent(effect["id"])
    settled = settle(application, effect["id"], response(body)).json()
    assert settled["has_moved"] is True
    assert settled["contradictions"] == []
    assert (settled["effect"]["state"], settled["effect"]["external_ref"]) == ("applied", "ch_1")
    assert settled["effect"]["amount_settled_minor"] == 1900

    moves = application.get(f"{EFFECTS}/{effect['id']}/history").json()["data"]
    assert [(move["from_state"], move["to_state"], move["source"]) for move in moves] == [
        ("", "pending", "begin"),
        ("pending", "applied", "answer"),
    ]
    assert {(move["by_kind"], move["by_id"]) for move in moves} == {("application", str(issued.key.pk))}
    raw = EffectMove.objects.get(number=2).raw
    assert open_raw_body(raw) == response_bytes(body)
    # Effects are no bodies: what was done is in their history, and nothing is in the access log.
    assert not AccessEntry.objects.filter(action="api_read").exists()


def response_bytes(body):
    return base64.b64decode(response(body)["response"]["body"])


@pytest.mark.parametrize(
    ("status", "error", "state"),
    [
        (402, {"type": "card_error", "code": "card_declined", "charge": "ch_0"}, "failed"),
        (402, {"type": "card_error", "payment_intent": intent(status="canceled")}, "failed"),
        (400, {"type": "invalid_request_error", "param": "amount"}, "failed"),
        (400, {"type": "invalid_request_error", "code": "rate_limit"}, "pending"),
        (409, {"type": "invalid_request_error", "code": "lock_timeout"}, "pending"),
        (429, {"type": "invalid_request_error"}, "pending"),
        (500, {"type": "api_error"}, "pending"),
        (401, {"type": "invalid_request_error"}, "pending"),
    ],
)
def test_a_refusal_settles_only_where_it_says_that_nothing_was_done(client, begun, status, error, state):
    answer = settle(client, begun["effect"]["id"], response({"error": error}, status=status))
    assert answer.status_code == 200
    assert answer.json()["effect"]["state"] == state
    assert answer.json()["has_moved"] is (state == "failed")


def test_a_key_that_the_processor_knows_with_other_parameters_is_a_contradiction(client, begun):
    body = {"error": {"type": "idempotency_error"}}
    answer = settle(client, begun["effect"]["id"], response(body, status=400))
    assert answer.json()["effect"]["state"] == "pending"
    assert Contradiction.objects.get().kind == "key_reused"


def test_a_processor_without_an_adapter_is_settled_by_a_report(client, realm):
    register(realm, "book", processor="hotels", operation="other")
    _, message = make_talk(realm, name="book")
    effect = begin(client, message).json()["effect"]["id"]
    report = {"outcome": "applied", "reference": "booking-1", "amount_minor": 1900, "currency": "USD"}
    answer = settle(client, effect, {"report": report})
    assert answer.json()["effect"]["state"] == "applied"
    assert answer.json()["effect"]["external_ref"] == "booking-1"
    again = settle(client, effect, {"report": report}).json()
    assert again["has_moved"] is False
    raw = settle(client, effect, response(intent()))
    assert refusal(raw) == (422, "processor-unknown")
    assert "report the outcome instead" in raw.json()["detail"]
    assert raw.json()["place"] == f"effect {effect}"


def test_an_answer_about_another_effect_is_refused(client, begun, registered):
    _, message = make_talk(registered)
    other = begin(client, message).json()["effect"]["id"]
    answer = settle(client, other, response(intent(begun["effect"]["id"])))
    assert refusal(answer) == (409, "answer-of-another-effect")
    assert set(ToolEffect.objects.values_list("state", flat=True)) == {"pending"}


HOSTILE_ANSWERS = [
    b"",
    b"\xff\xfe",
    b"[]",
    b"[" * 100_000,
    b'{"object": "payment_intent", "status": "succeeded"}',
    b'{"object": "payment_intent", "status": "succeeded", "id": "pi_\\u0000"}',
    b'{"object": "payment_intent", "status": "succeeded", "id": "pi_\\ud800"}',
    b'{"object": "payment_intent", "status": "succeeded", "id": "' + b"p" * 300 + b'"}',
    b'{"object": "payment_intent", "status": "succeeded", "id": "pi_1", "amount_received": 1'
    + b"0" * 30
    + b"}",
    b'{"object": "payment_intent", "status": "succeeded", "id": "pi_1", "amount_received": -5}',
    b'{"object": "payment_intent", "status": "succeeded", "id": "pi_1", "created": 1' + b"0" * 30 + b"}",
    b'{"object": "payment_intent", "status": "requires_payment_method", "last_payment_error": "x"}',
    b'{"object": ["payment_intent"], "status": {"a": 1}, "id": 7}',
    b'{"object": "refund", "status": "succeeded"}',
]


@pytest.mark.parametrize("body", HOSTILE_ANSWERS)
def test_whatever_is_handed_in_as_an_answer_moves_nothing_and_breaks_nothing(client, begun, body):
    for status in (200, 402, 400):
        answer = settle(client, begun["effect"]["id"], response(body, status=status))
        assert answer.status_code in (200, 422), answer.content
    assert ToolEffect.objects.get().state == "pending"
