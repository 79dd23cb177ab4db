"""Runs of imports and exports on the pages of jobs: the file, its refusals, what to do after a killed one."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from access.actors import Actor, ActorKind
from access.models import Realm
from access.rights import RoleName
from conversations.services.importing import following
from conversations.services.importing.recorded import import_recorded
from jobs.models import JobRun
from jobs.services.attending import begin_here
from jobs.services.steering import free_abandoned
from jobs.services.working import LEASE, update_claimed
from tests.conversations.imports.exports import five
from tests.conversations.imports.reading import write

# The session, the user, two of permissions, the page, the header's staff, the realms in reach.
QUERIES = 7
NOW = datetime(2026, 11, 24, 14, 5, tzinfo=UTC)
BAD = [{"conversation_id": f"<b>bad-{n}</b>", "title": "She said", "mapping": "none"} for n in range(3)]


@pytest.fixture
def admin(log_in):
    return log_in(RoleName.ADMINISTRATOR)


@pytest.fixture
def imported(realm, tmp_path):
    def run(content, name="export.json", **fields) -> JobRun:
        recorded = import_recorded(
            path=write(tmp_path, content, name),
            realm=realm,
            asked_by=Actor(ActorKind.IMPORTER, "root"),
            now=NOW,
            account="cus-1001",
            clock=lambda: NOW + timedelta(seconds=3),
            **fields,
        )
        return JobRun.objects.get(pk=recorded.run_id)

    return run


@pytest.fixture
def at_work(realm) -> JobRun:
    return begin_here(
        kind="conversations.import",
        requested_by=("importer", "root"),
        now=NOW,
        parameters={"file": "big.zip", "size": 5_000_000, "realm": realm.slug, "realm_id": realm.pk},
        unit="bytes",
    )


def page_of(client, run) -> str:
    return words_of(client.get(f"/jobs/runs/{run.pk}/"))


def words_of(response) -> str:
    assert response.status_code == 200
    return re.sub(r"\s+", " ", response.content.decode())


def test_a_run_shows_its_file_and_each_refusal_with_place_and_reason(admin, imported):
    run = imported([*five(), *BAD])

    page = page_of(admin, run)

    for fact in ("export.json", "ChatGPT export", "wendelmere-eu", "cus-1001", "root, at a terminal"):
        assert fact in page
    assert run.report["sha256"][-6:] in page
    assert "<b>3</b> did not go in" in page
    assert page.count("a conversation without a mapping of nodes") == 3
    assert "&lt;b&gt;bad-2&lt;/b&gt;" in page
    assert "<b>bad-" not in page
    assert "She said" not in page
    assert "realm_id" not in page


def test_counts_stand_in_the_order_in_which_one_reads_them(admin, imported):
    run = imported([*five(), *BAD])

    counts = admin.get(f"/jobs/runs/{run.pk}/").context["row"].counts

    assert [(count.step, count.name, count.number) for count in counts] == [
        ("conversations", "new", 5),
        ("conversations", "not imported", 3),
        ("messages", "messages", 10),
        ("messages", "parts", 10),
    ]


def test_a_run_without_refusals_says_so(admin, imported):
    page = page_of(admin, imported(five()))

    assert "Everything went in" in page
    assert "did not go in" not in page
    assert "Remarks" not in page


def test_a_dry_run_says_that_it_was_one(admin, imported):
    page = page_of(admin, imported([*five(), *BAD], is_dry_run=True))

    assert "It was a dry run" in page
    assert "Nothing was kept" in page


def test_a_refused_file_says_what_it_was_taken_for_and_that_nothing_was_written(admin, imported):
    page = page_of(admin, imported("# no\n", "a.md"))

    assert "taken for text, not JSON" in page
    assert "Nothing of it was written." in page
    assert "Files refused" in page
    assert "Everything went in" not in page
    assert "Go on from the last checkpoint" not in page


def test_of_a_long_list_the_page_says_how_many_it_does_not_show(admin, imported, monkeypatch):
    monkeypatch.setattr(following, "MAX_NAMED", 2)

    page = page_of(admin, imported([*five(), *BAD]))

    assert page.count("a conversation without a mapping of nodes") == 2
    assert "The first 2 of 3." in page


def test_a_killed_import_is_abandoned_and_says_that_importing_again_is_safe(admin, at_work):
    free_abandoned(now=NOW + LEASE + timedelta(seconds=1))

    page = page_of(admin, at_work)

    assert "abandoned" in page
    assert "Importing the file again is safe: what is in adds nothing" in page
    assert "Go on from the last checkpoint" not in page
    admin.post(f"/jobs/runs/{at_work.pk}/resume/")
    at_work.refresh_from_db()
    assert at_work.state == "failed"


def test_a_running_import_shows_how_far_it_is_and_can_be_stopped(admin, at_work):
    update_claimed(at_work, done=1_234_000, total=5_000_000)

    part = words_of(admin.get(f"/jobs/runs/{at_work.pk}/progress/"))
    listed = words_of(admin.get("/jobs/runs/"))
    admin.post(f"/jobs/runs/{at_work.pk}/stop/")

    assert '<progress value="1234000" max="5000000" aria-label="1.2 MB of 5.0 MB done">' in part
    assert "1.2 MB</a>" in listed
    assert "big.zip" in listed
    at_work.refresh_from_db()
    assert at_work.state == "stopping"


def test_the_page_is_read_anew_once_its_run_has_ended(admin, at_work, imported):
    ended = imported(five())

    def refresh(run, **headers):
        return admin.get(f"/jobs/runs/{run.pk}/progress/", headers=headers).headers.get("HX-Refresh")

    assert refresh(ended, **{"HX-Target": "progress"}) == "true"
    # Another page shows the part as well, and would be read anew for ever.
    assert refresh(ended) is None
    assert refresh(at_work, **{"HX-Target": "progress"}) is None


def test_whoever_does_not_reach_the_realm_sees_that_it_ran_and_nothing_of_it(log_in, imported, realm):
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    run = imported([*five(), *BAD])
    refused = imported("# no\n", "secret-cv.md")
    theirs = log_in(RoleName.AUDITOR, realms=[elsewhere], name="theirs")
    ours = log_in(RoleName.AUDITOR, realms=[realm], name="ours")

    for client, is_shown in ((theirs, False), (ours, True)):
        listed = words_of(client.get("/jobs/runs/"))
        pages = page_of(client, run) + page_of(client, refused)
        assert "Import conversations" in listed
        for word in ("export.json", "secret-cv.md"):
            assert (word in listed) is is_shown
        for word in ("cus-1001", "secret-cv.md", "mapping", run.report["sha256"][-6:], "taken for text"):
            assert (word in pages) is is_shown
    assert "This run is about a realm that you do not work in." in page_of(theirs, run)


def test_an_export_of_every_realm_is_for_whoever_sees_them_all(log_in, realm):
    run = begin_here(
        kind="conversations.export",
        requested_by=("importer", "root"),
        now=NOW,
        parameters={"what": "trees", "output": "all.jsonl", "account": "cus-1001"},
    )

    assert "all.jsonl" not in page_of(log_in(RoleName.AUDITOR, realms=[realm], name="one"), run)
    page = page_of(log_in(RoleName.AUDITOR, name="all"), run)
    assert "all.jsonl" in page
    assert "Whole trees" in page


def test_a_run_whose_words_were_erased_is_still_shown(admin, imported):
    run = imported([*five(), *BAD])
    JobRun.objects.filter(pk=run.pk).update(report=None, parameters={}, error="", error_place="")

    page = page_of(admin, run)

    assert "<b>3</b> did not go in" in page
    assert "export.json" not in page


def test_lists_of_imports_do_not_grow_in_queries(admin, imported, django_assert_num_queries):
    imported(five())
    admin.get("/jobs/runs/")
    with django_assert_num_queries(QUERIES):
        admin.get("/jobs/runs/")
    last = [imported([*five(), *BAD]) for _ in range(5)][-1]
    with django_assert_num_queries(QUERIES):
        listed = words_of(admin.get("/jobs/runs/"))
    with django_assert_num_queries(QUERIES):
        page_of(admin, last)

    assert listed.count("3 left out") == 5


@pytest.mark.parametrize("kind", ["conversations.import", "conversations.export"])
def test_neither_is_started_from_the_console(admin, kind):
    assert admin.get(f"/jobs/start/{kind}/").status_code == 404
    assert f"/jobs/start/{kind}/" not in admin.get("/jobs/").content.decode()
