"""The pages of jobs: schedule, runs, one run, and starting, stopping, resuming by right."""

from datetime import UTC, datetime, timedelta

import pytest

from access.models import AccessEntry
from access.rights import RoleName
from config.schedule import Beat
from console.job_pages.schedule import read_schedule
from conversations.ids import mint_id
from jobs.models import JobRun
from jobs.services.working import Batch, checkpoint, claim

# The session, the user, two of permissions, the page, the header's staff, the realms in reach.
QUERIES = 7
NOW = datetime(2026, 11, 24, 14, 5, tzinfo=UTC)


@pytest.fixture
def admin(log_in, broker_url):
    return log_in(RoleName.ADMINISTRATOR)


@pytest.fixture
def make_run(db):
    def make(**fields):
        now = fields.pop("now", NOW)
        ended = fields.get("state", "succeeded") in ("succeeded", "failed", "stopped")
        values = {
            "kind": "ledger.sweep",
            "requested_by_kind": "job",
            "state": "succeeded",
            "queued_at": now,
            "started_at": now,
            "finished_at": now + timedelta(seconds=3) if ended else None,
            "error_code": "Boom" if fields.get("state") == "failed" else "",
            **fields,
        }
        return JobRun.objects.create(id=mint_id(now), **values)

    return make


def test_the_schedule_has_the_last_and_the_next_run_of_each_job(make_run):
    make_run(now=NOW - timedelta(minutes=4))
    last = make_run(now=NOW - timedelta(minutes=2), state="failed")
    beat = {
        "a": {"task": "jobs.start", "schedule": Beat(timedelta(minutes=2)), "args": ["ledger.sweep", 120]},
        "b": {"task": "jobs.sweep", "schedule": Beat(timedelta(minutes=1))},
    }

    swept, sweeper = read_schedule(now=NOW, beat=beat)

    assert (swept.last, swept.took, swept.is_recorded) == (last, timedelta(seconds=3), True)
    assert swept.next_at == datetime(2026, 11, 24, 14, 6, tzinfo=UTC)
    assert (sweeper.last, sweeper.is_recorded) == (None, False)


def test_everything_in_the_schedule_has_a_name_and_a_purpose(db):
    assert [entry.kind.name for entry in read_schedule(now=NOW) if not entry.kind.purpose] == []


def test_the_pages_of_jobs_show_what_ran(admin, make_run):
    run = make_run(
        state="failed", error="<b>no</b>", error_place="cursor 7", counts={"effects": {"settled": 4}}, done=4
    )

    schedule = admin.get("/jobs/").content.decode()
    page = admin.get(f"/jobs/runs/{run.pk}/").content.decode()

    assert "Sweep effects" in schedule
    assert "cursor 7" in page
    assert "settled" in page
    assert "<b>no</b>" not in page
    assert 'hx-trigger="every 2s"' not in page
    assert "Go on from the last checkpoint" in page


def test_an_active_run_asks_for_itself_again_with_its_progress(admin, make_run):
    run = make_run(state="queued", total=10, started_at=None)
    claimed = claim(run_id=run.pk, now=datetime.now(UTC))
    checkpoint(claimed, Batch(cursor=4, done=4), now=datetime.now(UTC))

    part = admin.get(f"/jobs/runs/{run.pk}/progress/").content.decode()

    assert f'hx-get="/jobs/runs/{run.pk}/progress/"' in part
    assert '<progress value="4" max="10"' in part
    assert "<html" not in part


def test_a_start_makes_a_run_with_its_reason_and_a_row(admin):
    response = admin.post("/jobs/start/ledger.sweep/", {"reason": "Stripe was down"})

    run = JobRun.objects.get()
    assert response["Location"] == f"/jobs/runs/{run.pk}/"
    assert (run.kind, run.reason, run.state, run.requested_by_kind) == (
        "ledger.sweep",
        "Stripe was down",
        "queued",
        "staff",
    )
    entry = AccessEntry.objects.get(action="job_start")
    assert (entry.target_kind, entry.target_id) == ("job", str(run.pk))


def test_a_start_with_parameters_is_a_run_of_its_own_scope(admin):
    conversation = "019cd2e8-8620-7217-af5e-cc03de7e9a03"
    start = "/jobs/start/conversations.verify_replay/"

    refused = admin.post(start, {"reason": "x", "conversation": "nonsense"})
    admin.post(start, {"reason": "asked", "conversation": conversation})

    assert refused.status_code == 422
    run = JobRun.objects.get()
    assert (run.parameters, run.scope) == (
        {"conversation": conversation},
        f"conversation {conversation}",
    )


def test_a_second_start_leads_to_the_run_that_is_active(admin):
    admin.post("/jobs/start/ledger.sweep/", {"reason": "one"})

    response = admin.post("/jobs/start/ledger.sweep/", {"reason": "two"}, follow=True)

    assert JobRun.objects.count() == 1
    assert "active already" in response.content.decode()
    assert AccessEntry.objects.filter(action="job_start").count() == 1


def test_without_a_reason_nothing_starts_and_a_job_that_is_not_listed_is_not_found(admin):
    assert admin.post("/jobs/start/ledger.sweep/", {"reason": ""}).status_code == 422
    assert admin.post("/jobs/start/celery.backend_cleanup/", {"reason": "x"}).status_code == 404
    assert admin.post("/jobs/start/jobs.sweep/", {"reason": "x"}).status_code == 404
    assert JobRun.objects.count() == 0


def test_a_run_is_stopped_and_goes_on(admin, make_run):
    run = make_run(state="queued", started_at=None)

    admin.post(f"/jobs/runs/{run.pk}/stop/")
    run.refresh_from_db()
    stopped = run.state
    admin.post(f"/jobs/runs/{run.pk}/resume/")
    run.refresh_from_db()

    assert (stopped, run.state) == ("stopped", "queued")
    assert list(AccessEntry.objects.order_by("id").values_list("action", flat=True)) == [
        "change",
        "job_start",
    ]


def test_going_on_beside_an_active_run_leads_to_that_one(admin, make_run):
    stopped = make_run(state="stopped")
    active = make_run(state="queued", started_at=None)

    response = admin.post(f"/jobs/runs/{stopped.pk}/resume/")

    assert response["Location"] == f"/jobs/runs/{active.pk}/"
    stopped.refresh_from_db()
    assert stopped.state == "stopped"


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("get", "/jobs/start/ledger.sweep/"),
        ("post", "/jobs/start/ledger.sweep/"),
        ("post", "/jobs/runs/{run}/stop/"),
        ("post", "/jobs/runs/{run}/resume/"),
    ],
)
def test_who_only_reads_jobs_starts_and_stops_none(log_in, make_run, method, address):
    run = make_run(state="queued", started_at=None)
    auditor = log_in(RoleName.AUDITOR)

    response = getattr(auditor, method)(address.format(run=run.pk), {"reason": "x"})

    assert response.status_code == 403
    run.refresh_from_db()
    assert (run.state, JobRun.objects.count()) == ("queued", 1)
    assert AccessEntry.objects.get().action == "refused"


@pytest.mark.parametrize("address", ["/jobs/", "/jobs/runs/"])
def test_support_sees_no_jobs(log_in, address):
    assert log_in(RoleName.SUPPORT).get(address).status_code == 403


def test_runs_narrow_down_and_page_without_growing(admin, make_run, django_assert_num_queries):
    make_run(state="failed", kind="ledger.pull")
    admin.get("/jobs/runs/")
    with django_assert_num_queries(QUERIES):
        admin.get("/jobs/runs/")
    for minute in range(60):
        make_run(now=NOW + timedelta(minutes=minute))
    with django_assert_num_queries(QUERIES) as captured:
        first = admin.get("/jobs/runs/")
    older = admin.get(f"/jobs/runs/{first.context['older']}")

    assert not [query for query in captured if "COUNT(" in query["sql"].upper()]
    assert (len(first.context["rows"]), len(older.context["rows"])) == (50, 11)
    assert [row.run.kind for row in admin.get("/jobs/runs/?state=failed").context["rows"]] == ["ledger.pull"]
    assert len(admin.get("/jobs/runs/?kind=ledger.pull").context["rows"]) == 1


def test_a_report_is_laid_out_and_is_text_whatever_it_holds(admin, make_run):
    run = make_run(
        report={
            "holds": False,
            "rules": {"a-rule": {"broken": 1, "places": ["<b>here</b>"]}},
            "received_broken": {},
            "bodies": 7,
        }
    )

    response = admin.get(f"/jobs/runs/{run.pk}/")

    lines = [(line.name, line.is_laid_out) for line in response.context["row"].report]
    # The database orders the members of a report by their length.
    assert sorted(lines) == [
        ("bodies", False),
        ("holds", False),
        ("received broken", False),
        ("rules", True),
    ]
    page = response.content.decode()
    assert "&quot;a-rule&quot;: {\n" in page
    assert "&lt;b&gt;here&lt;/b&gt;" in page
    assert "<b>here</b>" not in page
