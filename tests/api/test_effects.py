"""Effects over HTTP: the guard's answers, sent before the socket, settled by what the processor said."""

import base64
import json
import threading
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from access.models import AccessEntry, Scope
from conversations.models import Message
from conversations.services.raw_bodies import open_raw_body
from ledger.models import Contradiction, EffectMove, GuardQuestion, ToolEffect
from ledger.services.questions import answer_question
from tests.api.effects import intent, make_talk, register, response

EFFECTS = "/api/v1/effects"
CALL = "toolu_1"
# The key; a transaction of its own as the reader (three); the list itself, and where its effects stand.
LIST_QUERIES = 7


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
    settled = application.post(f"{EFFECTS}/{effect['id']}/settle", response(body)).json()
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


def test_a_call_that_is_not_recorded_sends_nothing(client, registered):
    talk, message = make_talk(registered)
    for body in (
        {"message_id": message, "call_id": "toolu_2"},
        {"message_id": f"{talk.id}.m99", "call_id": CALL},
        {"conversation_id": str(talk.id), "call_id": "toolu_2"},
    ):
        answer = client.post(EFFECTS, body)
        assert (answer.status_code, answer.json()["rule"]) == (404, "call-not-recorded")
    assert not ToolEffect.objects.exists()


def test_the_same_call_is_answered_by_what_became_of_it(client, begun):
    effect = begun["effect"]["id"]
    message = begun["effect"]["message_id"]
    again = begin(client, message).json()
    assert (again["decision"], again["reason"]) == ("resume", "same_call")
    assert again["idempotency_key"] == begun["idempotency_key"]

    client.post(f"{EFFECTS}/{effect}/settle", response(intent()))
    replayed = begin(client, message).json()
    assert (replayed["decision"], replayed["idempotency_key"], replayed["metadata"]) == ("replay", None, None)
    assert (replayed["effect"]["external_ref"], replayed["effect"]["state"]) == ("ch_1", "applied")
    refused = client.post(f"{EFFECTS}/{effect}/sent")
    assert (refused.status_code, refused.json()["rule"]) == (409, "effect-settled")


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
    assert (sent.status_code, sent.json()["rule"]) == (409, "key-expired")


def test_the_call_may_be_named_by_its_conversation_where_it_is_one(client, registered):
    talk, message = make_talk(registered)
    assert (
        client.post(EFFECTS, {"conversation_id": str(talk.id), "call_id": CALL}).json()["effect"][
            "message_id"
        ]
        == message
    )
    talk.answers(CALL)
    talk.says("Once more")
    talk.calls(CALL)
    answer = client.post(EFFECTS, {"conversation_id": str(talk.id), "call_id": CALL})
    assert (answer.status_code, answer.json()["rule"]) == (409, "call-ambiguous")


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
    assert (answer.status_code, answer.json()["rule"]) == (409, "key-conflict")


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
    answer = client.post(
        f"{EFFECTS}/{begun['effect']['id']}/settle", response({"error": error}, status=status)
    )
    assert answer.status_code == 200
    assert answer.json()["effect"]["state"] == state
    assert answer.json()["has_moved"] is (state == "failed")


def test_a_key_that_the_processor_knows_with_other_parameters_is_a_contradiction(client, begun):
    body = {"error": {"type": "idempotency_error"}}
    answer = client.post(f"{EFFECTS}/{begun['effect']['id']}/settle", response(body, status=400))
    assert answer.json()["effect"]["state"] == "pending"
    assert Contradiction.objects.get().kind == "key_reused"


def test_a_processor_without_an_adapter_is_settled_by_a_report(client, realm):
    register(realm, "book", processor="hotels", operation="other")
    _, message = make_talk(realm, name="book")
    effect = begin(client, message).json()["effect"]["id"]
    report = {"outcome": "applied", "reference": "booking-1", "amount_minor": 1900, "currency": "USD"}
    answer = client.post(f"{EFFECTS}/{effect}/settle", {"report": report})
    assert answer.json()["effect"]["state"] == "applied"
    assert answer.json()["effect"]["external_ref"] == "booking-1"
    again = client.post(f"{EFFECTS}/{effect}/settle", {"report": report}).json()
    assert again["has_moved"] is False
    raw = client.post(f"{EFFECTS}/{effect}/settle", response(intent()))
    assert (raw.status_code, raw.json()["rule"]) == (422, "processor-unknown")


def test_an_answer_about_another_effect_is_refused(client, begun, registered):
    _, message = make_talk(registered)
    other = begin(client, message).json()["effect"]["id"]
    answer = client.post(f"{EFFECTS}/{other}/settle", response(intent(begun["effect"]["id"])))
    assert (answer.status_code, answer.json()["rule"]) == (409, "answer-of-another-effect")
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
        answer = client.post(f"{EFFECTS}/{begun['effect']['id']}/settle", response(body, status=status))
        assert answer.status_code in (200, 422), answer.content
    assert ToolEffect.objects.get().state == "pending"


HOSTILE_CALLS = [
    [],
    "x",
    None,
    {},
    {"message_id": "x", "call_id": CALL},
    {"message_id": 7, "call_id": CALL},
    {"call_id": CALL},
    {"conversation_id": "x", "call_id": CALL},
    {"conversation_id": "0193a1b2-0000-7000-8000-00000000ffff", "call_id": "a\x00b"},
    {"conversation_id": "0193a1b2-0000-7000-8000-00000000ffff", "call_id": "\ud800"},
    {"conversation_id": "0193a1b2-0000-7000-8000-00000000ffff", "call_id": CALL, "amount_minor": 2**70},
    {"conversation_id": "0193a1b2-0000-7000-8000-00000000ffff", "call_id": CALL, "amount_minor": 5},
    {"conversation_id": "0193a1b2-0000-7000-8000-00000000ffff", "call_id": CALL, "operation": "steal"},
    {
        "conversation_id": "0193a1b2-0000-7000-8000-00000000ffff",
        "call_id": CALL,
        "find_by": {"customer": 1e400},
    },
    {"conversation_id": "0193a1b2-0000-7000-8000-00000000ffff", "call_id": CALL, "find_by": [1]},
]


@pytest.mark.parametrize("body", HOSTILE_CALLS)
def test_a_request_of_another_shape_is_refused_by_its_member(client, registered, body):
    answer = client.generic("POST", EFFECTS, json.dumps(body), content_type="application/json")
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


def test_another_realms_call_and_effect_are_not_there(client, stranger, begun):
    effect = begun["effect"]["id"]
    theirs = begin(stranger, begun["effect"]["message_id"])
    missing = begin(stranger, "0193a1b2-0000-7000-8000-00000000ffff.m1")
    assert theirs.status_code == missing.status_code == 404
    assert theirs.json()["rule"] == missing.json()["rule"] == "no-conversation"
    for method, path, body in (
        ("get", "", None),
        ("get", "/history", None),
        ("post", "/sent", {}),
        ("post", "/settle", response(intent())),
    ):
        answer = getattr(stranger, method)(f"{EFFECTS}/{effect}{path}", body)
        assert (answer.status_code, answer.json()["rule"]) == (404, "no-effect")
    assert stranger.get(EFFECTS).json()["data"] == []
    assert ToolEffect.objects.get().state == "pending"


def test_only_the_scope_effects_opens_them(issue, client_of, begun):
    other = client_of(issue(scopes=[Scope.READ, Scope.WRITE, Scope.PRIVACY]))
    assert other.get(EFFECTS).status_code == 403
    assert begin(other, begun["effect"]["message_id"]).status_code == 403
    assert other.post(f"{EFFECTS}/{begun['effect']['id']}/sent").status_code == 403
    assert other.get("/api/v1/questions").status_code == 403


@pytest.fixture
def many(client, registered):
    """Effects of five conversations, oldest first; the first is settled."""
    ids = []
    for _number in range(5):
        _, message = make_talk(registered)
        ids.append(begin(client, message).json()["effect"]["id"])
    client.post(f"{EFFECTS}/{ids[0]}/settle", response(intent(ids[0])))
    return ids


def listed(client, query=""):
    answer = client.get(f"{EFFECTS}?{query}")
    assert answer.status_code == 200, answer.content
    return [row["id"] for row in answer.json()["data"]]


def test_the_list_is_paged_by_key_in_both_directions(client, many):
    newest = many[::-1]
    page = client.get(f"{EFFECTS}?limit=2").json()
    assert [row["id"] for row in page["data"]] == newest[:2]
    assert page["previous"] is None
    second = client.get(page["next"]).json()
    assert [row["id"] for row in second["data"]] == newest[2:4]
    last = client.get(second["next"]).json()
    assert ([row["id"] for row in last["data"]], last["next"]) == (newest[4:], None)
    back = client.get(second["previous"]).json()
    assert [row["id"] for row in back["data"]] == newest[:2]
    assert page["data"][0]["standing"] == "live"


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("state=applied", [0]),
        ("state=pending", [4, 3, 2, 1]),
        ("is_sent=false&state=pending", [4, 3, 2, 1]),
        ("external_ref=ch_1", [0]),
        ("external_ref=pi_1", [0]),
        ("external_ref=pi_2", []),
        ("tool=charge_card&account=cus-1", [4, 3, 2, 1, 0]),
        ("tool=other", []),
        ("account=cus-2", []),
        ("since=2026-01-01T00:00:00Z&amount=USD+19.00", [4, 3, 2, 1, 0]),
        ("until=2020-01-01T00:00:00Z", []),
        ("standing=abandoned", []),
        ("is_disputed=true", []),
    ],
)
def test_the_list_is_narrowed(client, many, query, places):
    assert listed(client, query) == [many[place] for place in places]


@pytest.mark.parametrize(
    "query",
    [
        "state=lost",
        "since=yesterday",
        "since=0001-01-01T00:00:00%2B14:00",
        "until=9999-12-31T23:59:59-14:00",
        "tool=%00",
        "amount=19",
        "conversation_id=x",
        "limit=0",
        "limit=201",
        "limit=-1",
        "limit=%D9%A1",
        "after=x",
        "after=1-2",
        "after=99999999999999999999999999-0193a1b2000070008000000000000ffff",
        "before=" + "9" * 500 + "-1",
        "after=1-" + "9" * 31,
    ],
)
def test_what_a_list_cannot_be_asked_is_a_400(client, many, query):
    answer = client.get(f"{EFFECTS}?{query}")
    assert answer.status_code in (200, 400), answer.content
    if answer.status_code == 200:
        assert query.startswith(("after=1-", "since=0001", "until=9999"))


def test_the_list_costs_the_same_however_long_it_is(client, many, django_assert_num_queries):
    client.get(EFFECTS)
    with django_assert_num_queries(LIST_QUERIES):
        client.get(f"{EFFECTS}?limit=1")
    with django_assert_num_queries(LIST_QUERIES):
        client.get(f"{EFFECTS}?limit=5")


@pytest.mark.django_db(transaction=True)
def test_two_branches_that_begin_at_once_get_one_go(client, registered):
    talk, message = make_talk(registered)
    asked = Message.objects.get(conversation_id=talk.id, seq=1)
    other = f"{talk.id}.m{talk.calls('toolu_2', below=talk.edits(asked.seq))}"
    wanted = [(message, CALL), (other, "toolu_2")] * 4
    decisions, barrier = [], threading.Barrier(len(wanted))

    def one(message, call_id):
        barrier.wait()
        decisions.append(begin(client, message, call_id).json()["decision"])
        connection.close()

    threads = [threading.Thread(target=one, args=pair) for pair in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert decisions.count("proceed") == 1
    assert set(decisions) <= {"proceed", "resume", "ask"}
    assert ToolEffect.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_answer_handed_in_twice_at_once_moves_the_state_once(client, begun):
    moved, barrier = [], threading.Barrier(6)

    def one():
        barrier.wait()
        answer = client.post(f"{EFFECTS}/{begun['effect']['id']}/settle", response(intent()))
        moved.append(answer.json()["has_moved"])
        connection.close()

    threads = [threading.Thread(target=one) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(moved) == [False] * 5 + [True]
    assert EffectMove.objects.count() == 2


def test_unregistered_tools_are_asked_about(client, realm):
    _, message = make_talk(realm)
    answer = begin(client, message).json()
    assert (answer["decision"], answer["reason"]) == ("ask", "unregistered")
    assert GuardQuestion.objects.get().pk.hex == answer["question"]["id"].replace("-", "")
