"""Erasure requests over HTTP: a key asks, two people decide, and nothing names anybody."""

import json
from datetime import timedelta
from functools import partial

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from access.models import AccessEntry, Scope
from conversations.models import Account
from conversations.services.accounts import ensure_account
from jobs.models import JobRun
from retention.erasure.job import erase
from retention.erasure.receipt import sign
from retention.errors import TwoPeopleError
from retention.models import ErasureRequest
from retention.services.erasing import approve_erasure, check_identity, prepare_preview
from retention.services.holds import approve_release
from retention.vocabulary import IdentityCheck
from tests.api.answers import post_raw, refusal
from tests.api.effects import make_talk
from tests.api.privacy.conftest import HOLDS, LIST_QUERIES, MISSING, hold
from tests.conversations.conftest import NOW
from tests.conversations.writers import at_once

ERASURES = "/api/v1/erasures"


def take_in(client, *accounts, **given):
    return client.post(ERASURES, {"accounts": list(accounts or ["cus-1"]), **given})


def preview(user):
    """What the first of two people does with the only request: it then waits for the second."""
    request, now = ErasureRequest.objects.get(), timezone.now()
    check_identity(request_id=request.pk, how=IdentityCheck.SIGNED_IN, user=user, now=now)
    return prepare_preview(request_id=request.pk, user=user, now=now)


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

    now, (first, second) = timezone.now(), people
    request = preview(user=first)
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
    line = AccessEntry.objects.get(target_kind="erasure", actor_kind="application")
    assert line.address == "127.0.0.1"


def test_the_database_holds_the_two_people_of_an_applications_request(client, person, people):
    take_in(client)
    preview(user=people[0])
    now = timezone.now()
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
    assert refusal(early) == (409, "wrong-state")
    request = preview(user=people[0])
    erase(run_id=approve_erasure(request_id=request.pk, user=people[1], now=timezone.now()).pk)
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
    assert refusal(again) == (409, "requested")


@pytest.mark.django_db(transaction=True)
def test_two_at_once_are_one_request(client, person):
    answers = at_once(*[partial(take_in, client)] * 5)

    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409]
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
        assert refusal(answer) == (404, "no-account")
    both = take_in(client, "cus-1", "cus-9")
    assert both.json()["place"] == "accounts, number 2"
    assert not ErasureRequest.objects.exists()
    assert take_in(client, str(person.pk)).status_code == 201
    number = ErasureRequest.objects.get().number
    for name in (number, "ER-2026-9999"):
        start = {"kind": "retention.erase", "parameters": {"erasure": name}}
        refused = stranger.post("/api/v1/jobs", start)
        assert refusal(refused) == (404, "no-request")
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
    answer = post_raw(client, ERASURES, body)
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
