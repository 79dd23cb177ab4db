"""Jobs over HTTP: those that a key may start, and only runs of its own realm."""

from functools import partial

import pytest

from access.models import AccessEntry, Scope
from conversations.replay.job import verify_some
from jobs.models import JobRun
from jobs.services.starting import start_job
from jobs.services.working import work
from ledger.models import ReconciliationRun
from tests.api.answers import post_raw, refusal
from tests.api.effects import make_talk
from tests.conversations.conftest import NOW
from tests.conversations.writers import at_once

JOBS = "/api/v1/jobs"
VERIFY, RECONCILE, ERASE = "conversations.verify_replay", "ledger.reconcile", "retention.erase"


@pytest.fixture
def talk(realm):
    return make_talk(realm)[0]


def start(client, kind, parameters, **given):
    return client.post(JOBS, {"kind": kind, "parameters": parameters, **given})


def verify(client, talk):
    return start(client, VERIFY, {"conversation": str(talk.id)}, reason="after an import")


def test_a_job_is_started_and_its_progress_is_read(client, issue, client_of, talk):
    issued = issue(scopes=[Scope.WRITE])
    writer = client_of(issued)
    answer = verify(writer, talk)
    assert answer.status_code == 202
    told = answer.json()
    assert (told["kind"], told["state"], told["parameters"]) == (
        VERIFY,
        "queued",
        {"conversation": str(talk.id)},
    )
    assert answer["Location"] == f"http://testserver{JOBS}/{told['id']}"
    run = JobRun.objects.get()
    assert (run.requested_by_kind, run.requested_by_id, run.reason) == (
        "application",
        str(issued.key.pk),
        "after an import",
    )
    entry = AccessEntry.objects.get(action="job_start")
    assert (entry.actor_id, entry.target_id) == (str(issued.key.pk), told["id"])

    work(run_id=run.pk, batch=verify_some)
    ended = writer.get(f"{JOBS}/{told['id']}").json()
    assert (ended["state"], ended["error"]["code"]) == ("succeeded", "")
    assert ended["report"]["different"] == 0


def test_a_reconciliation_is_of_the_keys_realm(client, realm):
    period = {"processor": "stripe", "since": "2026-03-01T00:00:00Z", "until": "2026-03-02T00:00:00Z"}
    answer = start(client, RECONCILE, period)
    assert answer.status_code == 202
    assert ReconciliationRun.objects.get().realm_id == realm.pk
    assert client.get(f"{JOBS}/{answer.json()['id']}").status_code == 200
    backwards = start(client, RECONCILE, period | {"until": "2026-03-01T00:00:00Z"})
    assert backwards.status_code == 400
    assert backwards.json()["errors"][0]["pointer"] == "#/parameters/until"


def test_a_run_of_the_same_is_not_started_twice(client, talk):
    first = verify(client, talk).json()
    again = verify(client, talk)
    assert refusal(again) == (409, "job-overlaps")
    assert again.json()["place"] == f"job {first['id']}"


@pytest.mark.django_db(transaction=True)
def test_two_at_once_start_one_run(client, talk):
    answers = at_once(*[partial(verify, client, talk)] * 4)

    assert sorted(answer.status_code for answer in answers) == [202, 409, 409, 409]
    assert JobRun.objects.count() == 1


@pytest.mark.parametrize(
    ("kind", "parameters", "scope"),
    [
        (VERIFY, {"conversation": "0193a1b2-0000-7000-8000-00000000ffff"}, Scope.WRITE),
        (
            RECONCILE,
            {"processor": "stripe", "since": "2026-03-01T00:00:00Z", "until": "2026-03-02T00:00:00Z"},
            Scope.EFFECTS,
        ),
        (ERASE, {"erasure": "ER-2026-0001"}, Scope.PRIVACY),
    ],
)
def test_each_kind_takes_its_own_scope(issue, client_of, kind, parameters, scope):
    others = client_of(issue(scopes=[other for other in Scope if other != scope]))
    refused = start(others, kind, parameters)
    assert refusal(refused) == (403, "permission-denied")
    assert start(client_of(issue(scopes=[scope])), kind, parameters).status_code in (202, 404)
    assert JobRun.objects.filter(requested_by_kind="application").count() <= 1


def test_what_belongs_to_another_realm_or_to_everybody_is_not_there(client, stranger, issue, client_of, talk):
    missing = "0193a1b2-0000-7000-8000-00000000ffff"
    assert verify(stranger, talk).json()["rule"] == "no-conversation"
    run = verify(client, talk).json()["id"]
    everybodys = start_job(kind="retention.purge", requested_by=("staff", "1"), now=NOW)
    whole = start_job(kind=VERIFY, requested_by=("staff", "1"), now=NOW)
    for asking, run_id in ((stranger, run), (client, everybodys.pk), (client, whole.pk), (client, missing)):
        answer = asking.get(f"{JOBS}/{run_id}")
        assert refusal(answer) == (404, "no-job")
    reader = client_of(issue(scopes=[Scope.READ]))
    assert reader.get(f"{JOBS}/{run}").status_code == 403


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"kind": "retention.purge", "parameters": {}},
        {"kind": ["x"], "parameters": {}},
        {"kind": VERIFY},
        {"kind": VERIFY, "parameters": []},
        {"kind": VERIFY, "parameters": {}},
        {"kind": VERIFY, "parameters": {"conversation": "x"}},
        {"kind": VERIFY, "parameters": {"conversation": 1.5}},
        {"kind": RECONCILE, "parameters": {"processor": "a\x00", "since": "x", "until": None}},
        {"kind": ERASE, "parameters": {"erasure": "\ud800"}},
        {"kind": VERIFY, "parameters": {"conversation": "x"}, "reason": "a\x00"},
        {"kind": VERIFY, "parameters": {"conversation": "x"}, "reason": "x" * 501},
    ],
)
def test_a_request_of_another_shape_is_refused(client, body):
    answer = post_raw(client, JOBS, body)
    assert answer.status_code == 400, answer.content
    assert not JobRun.objects.exists()


def test_a_wrong_parameter_is_named_by_its_pointer(client):
    answer = start(client, VERIFY, {"conversation": "x"})
    assert answer.json()["errors"][0]["pointer"] == "#/parameters/conversation"
