"""Holds and erasure requests over HTTP: a key asks, two people decide, and nothing names anybody."""

import json
import threading
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from access.models import AccessEntry, Scope
from conversations.models import Account
from conversations.services.accounts import ensure_account
from jobs.models import JobRun
from retention.erasure.job import erase
from retention.erasure.receipt import sign
from retention.errors import TwoPeopleError
from retention.models import ErasureRequest, HoldEvent, LegalHold
from retention.services.erasing import approve_erasure, check_identity, prepare_preview
from retention.services.holds import approve_release, refuse_release
from retention.vocabulary import IdentityCheck
from tests.api.conftest import STAFF
from tests.api.effects import intent, make_conversation, make_talk, register, response
from tests.conversations.conftest import NOW
from tests.retention.conftest import folder

__all__ = ["folder"]

HOLDS = "/api/v1/holds"
ERASURES = "/api/v1/erasures"
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


def test_a_hold_is_placed_by_a_key_and_released_by_a_person(issue, client_of, conversation, people):
    issued = issue(scopes=[Scope.PRIVACY])
    client = client_of(issued)
    answer = client.post(HOLDS, {"conversation_id": str(conversation.pk), "matter": "M-7"})
    assert answer.status_code == 201
    placed = answer.json()
    assert (placed["target"], placed["conversation_id"]) == ("conversation", str(conversation.pk))
    assert (placed["state"], placed["placed_by_kind"]) == ("in_force", "application")
    assert answer["Location"] == f"http://testserver{HOLDS}/{placed['id']}"

    asked = client.post(f"{HOLDS}/{placed['id']}/release-request")
    assert (asked.status_code, asked.json()["state"]) == (200, "release_requested")
    again = client.post(f"{HOLDS}/{placed['id']}/release-request")
    assert (again.status_code, again.json()["rule"]) == (409, "release-requested")

    refuse_release(hold_id=placed["id"], user=people[0], now=timezone.now())
    assert client.get(f"{HOLDS}/{placed['id']}").json()["state"] == "in_force"
    client.post(f"{HOLDS}/{placed['id']}/release-request")
    approve_release(hold_id=placed["id"], user=people[0], now=timezone.now())
    assert client.get(f"{HOLDS}/{placed['id']}").json()["state"] == "released"
    by = [(event.step, event.by_id, event.by_key_id) for event in HoldEvent.objects.order_by("pk")]
    key, person = issued.key.pk, people[0].pk
    assert by == [
        ("placed", None, key),
        ("release_requested", None, key),
        ("release_refused", person, None),
        ("release_requested", None, key),
        ("released", person, None),
    ]
    logged = AccessEntry.objects.filter(target_kind="hold", target_id=placed["id"]).order_by("pk")
    assert [entry.actor_kind for entry in logged] == [
        "application",
        "application",
        "staff",
        "application",
        "staff",
    ]


def test_accounts_and_effects_are_held_too(client, realm, conversation):
    register(realm)
    _, message = make_talk(realm)
    effect = client.post("/api/v1/effects", {"message_id": message, "call_id": "toolu_1"}).json()["effect"]
    client.post(f"/api/v1/effects/{effect['id']}/settle", response(intent()))
    assert hold(client, account_id=str(conversation.account_id))["target"] == "account"
    placed = hold(client, effect_id=effect["id"])
    assert (placed["target"], placed["conversation_id"]) == ("effect", effect["conversation_id"])
    assert len(client.get(HOLDS).json()["data"]) == 2
    held = client.get(HOLDS, {"conversation_id": effect["conversation_id"]}).json()["data"]
    assert [row["id"] for row in held] == [placed["id"]]


def test_whoever_made_the_key_that_asked_is_no_other_person(issue, client_of, conversation, people):
    maker = people[0]
    issued = issue(actor=STAFF.__class__(STAFF.kind, str(maker.pk)))
    client = client_of(issued)
    placed = hold(client, conversation_id=str(conversation.pk))
    client.post(f"{HOLDS}/{placed['id']}/release-request")
    with pytest.raises(TwoPeopleError, match="made the key"):
        approve_release(hold_id=placed["id"], user=maker, now=timezone.now())
    with pytest.raises(IntegrityError, match="made the key"), transaction.atomic():
        LegalHold.objects.update(released_by=maker, released_at=timezone.now())
    approve_release(hold_id=placed["id"], user=people[1], now=timezone.now())


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"release_requested_at": NOW}, "request_is_somebodys"),
        ({"released_at": NOW}, "release_was_asked_for"),
    ],
)
def test_the_database_refuses_holds_of_nobody(client, conversation, changes, constraint):
    hold(client, conversation_id=str(conversation.pk))
    with pytest.raises(IntegrityError, match=f"retention_hold_{constraint}"), transaction.atomic():
        LegalHold.objects.update(**changes)


HOSTILE_HOLDS = [
    [],
    {},
    {"matter": "M-7"},
    {"matter": "", "account_id": MISSING},
    {"matter": "x" * 65, "account_id": MISSING},
    {"matter": "a\x00", "account_id": MISSING},
    {"matter": "\ud800", "account_id": MISSING},
    {"matter": "M-7", "account_id": "x"},
    {"matter": "M-7", "account_id": MISSING, "conversation_id": MISSING},
    {"matter": ["M-7"], "account_id": MISSING},
]


@pytest.mark.parametrize("body", HOSTILE_HOLDS)
def test_a_hold_of_another_shape_is_refused(client, body):
    answer = client.generic("POST", HOLDS, json.dumps(body), content_type="application/json")
    assert answer.status_code == 400, answer.content


def test_what_is_another_realms_can_be_neither_held_nor_released(client, stranger, realm, conversation):
    placed = hold(client, conversation_id=str(conversation.pk))
    register(realm)
    _, message = make_talk(realm)
    effect = client.post("/api/v1/effects", {"message_id": message, "call_id": "toolu_1"}).json()["effect"]
    for name, target in (
        ("conversation", conversation.pk),
        ("account", conversation.account_id),
        ("effect", effect["id"]),
    ):
        theirs = stranger.post(HOLDS, {f"{name}_id": str(target), "matter": "M-8"})
        missing = stranger.post(HOLDS, {f"{name}_id": MISSING, "matter": "M-8"})
        assert theirs.status_code == missing.status_code == 404
        assert theirs.json()["rule"] == missing.json()["rule"] == f"no-{name}"
    assert stranger.get(f"{HOLDS}/{placed['id']}").json()["rule"] == "no-hold"
    assert stranger.post(f"{HOLDS}/{placed['id']}/release-request").json()["rule"] == "no-hold"
    assert stranger.get(HOLDS).json()["data"] == []
    assert LegalHold.objects.get().release_requested_at is None


def test_the_list_of_holds_is_paged_and_costs_the_same(client, realm, django_assert_num_queries):
    ids = [hold(client, conversation_id=str(make_conversation(realm).pk))["id"] for _ in range(3)]
    page = client.get(f"{HOLDS}?limit=2&is_released=false").json()
    assert [row["id"] for row in page["data"]] == ids[:0:-1]
    assert [row["id"] for row in client.get(page["next"]).json()["data"]] == ids[:1]
    for limit in (1, 3):
        with django_assert_num_queries(LIST_QUERIES):
            client.get(f"{HOLDS}?limit={limit}")


def take_in(client, *accounts, **given):
    return client.post(ERASURES, {"accounts": list(accounts or ["cus-1"]), **given})


@pytest.fixture
def person(realm, folder):
    return ensure_account(realm=realm, external_id="cus-1", email="q.sample@example.org", now=NOW)


def test_an_erasure_from_intake_to_receipt_takes_two_people(issue, client_of, realm, person, people):
    issued = issue(scopes=[Scope.PRIVACY])
    client = client_of(issued)
    make_talk(realm)
    answer = take_in(client, aliases=["Q. Sample"])
    assert answer.status_code == 201
    taken = answer.json()
    number = taken["number"]
    assert answer["Location"] == f"http://testserver{ERASURES}/{number}"
    assert (taken["origin"], taken["state"], taken["account_ids"]) == (
        "application",
        "intake",
        [str(person.pk)],
    )
    assert (taken["preview"], taken["steps"], taken["job_id"], taken["has_receipt"]) == (
        None,
        [],
        None,
        False,
    )
    assert client.get(f"{ERASURES}/{number}/receipt").json()["rule"] == "no-receipt"

    request = ErasureRequest.objects.get()
    now, (first, second) = timezone.now(), people
    check_identity(request_id=request.pk, how=IdentityCheck.SIGNED_IN, user=first, now=now)
    prepare_preview(request_id=request.pk, user=first, now=now)
    previewed = client.get(f"{ERASURES}/{number}").json()
    assert previewed["state"] == "previewed"
    assert {row["store"]: row["erased"] for row in previewed["preview"]}["conversation"] == 1
    with pytest.raises(TwoPeopleError, match="checked the identity"):
        approve_erasure(request_id=request.pk, user=first, now=now)
    run = approve_erasure(request_id=request.pk, user=second, now=now)
    approved = client.get(f"{ERASURES}/{number}").json()
    assert (approved["state"], approved["job_id"]) == ("approved", str(run.pk))
    assert client.get(f"/api/v1/jobs/{run.pk}").json()["unit"] == "steps"
    erase(run_id=run.pk)

    done = client.get(f"{ERASURES}/{number}").json()
    assert (done["state"], done["has_receipt"]) == ("done", True)
    assert {step["state"] for step in done["steps"]} <= {"done", "requested"}
    receipt = client.get(f"{ERASURES}/{number}/receipt").json()
    assert receipt["signature"] == f"hmac-sha256:{sign(receipt['receipt'])}"
    body = json.loads(receipt["receipt"])
    assert (body["taken_in_by"], body["taken_in_by_key"]) == (None, issued.key.pk)
    told = json.dumps([done, receipt])
    assert "cus-1" not in told
    assert "sample" not in told.lower()
    assert not Account.objects.filter(external_id="cus-1").exists()
    assert AccessEntry.objects.filter(target_kind="erasure", actor_kind="application").count() == 1


def test_the_database_holds_the_two_people_of_an_applications_request(client, person, people):
    take_in(client)
    now = timezone.now()
    request = ErasureRequest.objects.get()
    check_identity(request_id=request.pk, how=IdentityCheck.DOCUMENT, user=people[0], now=now)
    prepare_preview(request_id=request.pk, user=people[0], now=now)
    with pytest.raises(IntegrityError, match="retention_erasure_two_people"), transaction.atomic():
        ErasureRequest.objects.update(approved_by=people[0], approved_at=now, state="approved")
    with pytest.raises(IntegrityError, match="retention_erasure_approved_before"), transaction.atomic():
        ErasureRequest.objects.update(state="approved")
    with pytest.raises(IntegrityError, match="retention_erasure_taken_in_by_one"), transaction.atomic():
        ErasureRequest.objects.update(taken_in_by=people[1])


def test_what_was_held_is_gone_on_with_by_a_job(client, issue, client_of, realm, person, people):
    talk, _ = make_talk(realm)
    placed = hold(client, conversation_id=str(talk.id))
    number = take_in(client).json()["number"]
    start = {"kind": "retention.erase", "parameters": {"erasure": number}}
    early = client.post("/api/v1/jobs", start)
    assert (early.status_code, early.json()["rule"]) == (409, "wrong-state")
    request, now = ErasureRequest.objects.get(), timezone.now()
    check_identity(request_id=request.pk, how=IdentityCheck.SIGNED_IN, user=people[0], now=now)
    prepare_preview(request_id=request.pk, user=people[0], now=now)
    erase(run_id=approve_erasure(request_id=request.pk, user=people[1], now=now).pk)
    assert client.get(f"{ERASURES}/{number}").json()["state"] == "partly_done"

    client.post(f"{HOLDS}/{placed['id']}/release-request")
    approve_release(hold_id=placed["id"], user=people[0], now=timezone.now())
    begun = client.post("/api/v1/jobs", start)
    assert begun.status_code == 202
    run = JobRun.objects.get(pk=begun.json()["id"])
    assert run.requested_by_kind == "application"
    erase(run_id=run.pk)
    assert client.get(f"{ERASURES}/{number}").json()["state"] == "done"


def test_one_person_has_one_open_request(client, person):
    assert take_in(client).status_code == 201
    again = take_in(client)
    assert (again.status_code, again.json()["rule"]) == (409, "requested")


@pytest.mark.django_db(transaction=True)
def test_two_at_once_are_one_request(client, person):
    statuses, barrier = [], threading.Barrier(5)

    def one():
        barrier.wait()
        statuses.append(take_in(client).status_code)
        connection.close()

    threads = [threading.Thread(target=one) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [201, 409, 409, 409, 409]
    assert ErasureRequest.objects.count() == 1


def test_the_clock_runs_from_when_the_person_asked(client, person):
    asked = timezone.now() - timedelta(days=3)
    told = take_in(client, received_at=asked.isoformat()).json()
    assert told["due_at"][:10] == (asked + timedelta(days=30)).date().isoformat()


def test_a_repeat_under_one_key_gets_the_first_answer(client, person):
    headers = {"HTTP_IDEMPOTENCY_KEY": "er-1"}
    first = client.post(ERASURES, {"accounts": ["cus-1"]}, **headers)
    again = client.post(ERASURES, {"accounts": ["cus-1"]}, **headers)
    assert (again.status_code, again.json()) == (201, first.json())


def test_whom_the_realm_does_not_know_is_not_found(client, stranger, person):
    for asking, name in (
        (client, "cus-9"),
        (client, MISSING),
        (stranger, "cus-1"),
        (stranger, str(person.pk)),
    ):
        answer = take_in(asking, name)
        assert (answer.status_code, answer.json()["rule"]) == (404, "no-account")
    both = take_in(client, "cus-1", "cus-9")
    assert both.json()["place"] == "accounts, number 2"
    assert not ErasureRequest.objects.exists()
    assert take_in(client, str(person.pk)).status_code == 201
    number = ErasureRequest.objects.get().number
    for name in (number, "ER-2026-9999"):
        start = {"kind": "retention.erase", "parameters": {"erasure": name}}
        refused = stranger.post("/api/v1/jobs", start)
        assert (refused.status_code, refused.json()["rule"]) == (404, "no-request")
    for path in ("", "/receipt"):
        theirs, missing = (stranger.get(f"{ERASURES}/{name}{path}") for name in (number, "ER-2026-9999"))
        assert theirs.status_code == missing.status_code == 404
        assert theirs.json()["rule"] == missing.json()["rule"] == "no-request"
    assert stranger.get(ERASURES).json()["data"] == []


HOSTILE_INTAKES = [
    [],
    {},
    {"accounts": []},
    {"accounts": "cus-1"},
    {"accounts": [{}]},
    {"accounts": ["a\x00"]},
    {"accounts": ["\ud800"]},
    {"accounts": ["x" * 256]},
    {"accounts": ["x"] * 51},
    {"accounts": ["cus-1"], "aliases": ["a\x00"]},
    {"accounts": ["cus-1"], "received_at": "x"},
    {"accounts": ["cus-1"], "received_at": "2999-01-01T00:00:00Z"},
    {"accounts": ["cus-1"], "received_at": "0001-01-01T00:00:00+14:00"},
]


@pytest.mark.parametrize("body", HOSTILE_INTAKES)
def test_an_intake_of_another_shape_is_refused(client, person, body):
    answer = client.generic("POST", ERASURES, json.dumps(body), content_type="application/json")
    assert answer.status_code == 400, answer.content
    assert not ErasureRequest.objects.exists()


def test_only_the_scope_privacy_opens_them(issue, client_of, person):
    other = client_of(issue(scopes=[Scope.READ, Scope.WRITE, Scope.EFFECTS]))
    assert other.get(HOLDS).status_code == other.get(ERASURES).status_code == 403
    assert other.post(HOLDS, {}).status_code == take_in(other).status_code == 403


def test_the_list_of_requests_is_narrowed_and_costs_the_same(
    client, realm, person, django_assert_num_queries
):
    ensure_account(realm=realm, external_id="cus-2", now=NOW)
    numbers = [take_in(client, name).json()["number"] for name in ("cus-1", "cus-2")]
    listed = client.get(f"{ERASURES}?state=intake&is_finished=false").json()["data"]
    assert [row["number"] for row in listed] == numbers[::-1]
    assert client.get(f"{ERASURES}?state=done").json()["data"] == []
    assert client.get(f"{ERASURES}?state=gone").status_code == 400
    for limit in (1, 2):
        with django_assert_num_queries(LIST_QUERIES):
            client.get(f"{ERASURES}?limit={limit}")
