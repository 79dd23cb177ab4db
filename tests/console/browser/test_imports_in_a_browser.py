"""An import is watched while it goes on: its bar moves, and once it has ended its refusals stand there."""

import json
import threading
from datetime import timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import Group, User
from django.db import connection
from playwright.sync_api import expect

from access.actors import Actor, ActorKind
from access.models import Realm, StaffMember
from conversations.models import Conversation
from conversations.services.importing.recorded import import_recorded
from jobs.models import JobRun
from jobs.services.attending import begin_here
from jobs.services.steering import free_abandoned
from jobs.services.working import LEASE
from tests.console.conftest import NOW

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = "<img src=x onerror='window.pwned = 1'>\u202eevil"


@pytest.fixture
def realm(transactional_db):
    return Realm.objects.create(slug="wendelmere-eu", name="Wendelmere Travel", created_at=NOW)


@pytest.fixture
def admin(transactional_db):
    user = User.objects.create_user("ada", is_staff=True, first_name="Ada", last_name="Lind")
    user.groups.add(Group.objects.get(name="administrator"))
    StaffMember.objects.create(user=user, sees_all_realms=True)
    return user


@pytest.fixture
def export(tmp_path):
    """A file of forty conversations and five that cannot be read, one with a name that means harm."""
    nodes = {"u": {"parent": None, "message": {"author": {"role": "user"}, "content": {"parts": ["hi"]}}}}
    good = [
        {"conversation_id": f"k{n}", "title": f"chat {n}", "mapping": nodes, "current_node": "u"}
        for n in range(40)
    ]
    bad = [{"conversation_id": f"bad-{n} {HOSTILE}", "mapping": "none"} for n in range(5)]
    path = tmp_path / "chatgpt-export-of-march.json"
    path.write_text(json.dumps([*good, *bad]))
    return path


@pytest.fixture
def start(realm):
    """Import in a thread beside the browser; `go_on` lets it pass its tenth conversation."""
    threads = []

    def begin(path, go_on, **fields):
        read = []

        def advance(size, count):
            read.append(size)
            if len(read) == 10:
                go_on.wait(30)

        def work():
            try:
                import_recorded(
                    path=path,
                    realm=realm,
                    asked_by=Actor(ActorKind.IMPORTER, "root"),
                    now=NOW,
                    account="cus-1001",
                    advance=advance,
                    every=timedelta(milliseconds=50),
                    **fields,
                )
            finally:
                connection.close()

        thread = threading.Thread(target=work)
        thread.start()
        threads.append((thread, go_on))
        while not JobRun.objects.filter(done__gt=0).exists():
            assert thread.is_alive()
        return JobRun.objects.get()

    yield begin
    for thread, go_on in threads:
        go_on.set()
        thread.join()


def accessible(page):
    found = Axe().run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_import_moves_while_one_looks_and_then_lists_what_did_not_go_in(
    open_page, admin, export, start, complaints, scheme, tmp_path
):
    go_on = threading.Event()
    run = start(export, go_on)
    page = open_page(f"/jobs/runs/{run.pk}/", user=admin, scheme=scheme)
    expect(page.locator("progress")).to_have_attribute("max", str(export.stat().st_size))
    accessible(page)
    page.screenshot(path=tmp_path / f"{scheme}-running.png")

    go_on.set()

    expect(page.get_by_role("heading", name="Not imported")).to_be_visible()
    expect(page.get_by_role("group", name="Not imported").locator("tbody tr")).to_have_count(5)
    expect(page.get_by_text("5 did not go in")).to_be_visible()
    expect(page.locator("[hx-trigger]")).to_have_count(0)
    accessible(page)
    page.screenshot(path=tmp_path / f"{scheme}-ended.png", full_page=True)
    page.goto(page.url.split("/jobs/")[0] + "/jobs/runs/")
    expect(page.get_by_text("chatgpt-export-of-march.json")).to_be_visible()
    expect(page.get_by_text("5 left out")).to_be_visible()
    accessible(page)
    page.screenshot(path=tmp_path / f"{scheme}-list.png")
    assert page.evaluate("window.pwned") is None
    assert Conversation.objects.count() == 40
    assert complaints == []


def test_an_import_is_stopped_from_its_page(open_page, admin, export, start, complaints):
    go_on = threading.Event()
    run = start(export, go_on)
    page = open_page(f"/jobs/runs/{run.pk}/", user=admin)

    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#progress")).to_contain_text("Stopping")
    # The next beat brings the word to the import, which waits between two conversations.
    until_told(run)
    go_on.set()

    expect(page.locator("#progress")).to_contain_text("Importing the file again is safe")
    expect(page.get_by_role("button", name="Go on from the last checkpoint")).to_have_count(0)
    accessible(page)
    run.refresh_from_db()
    assert run.state == "stopped"
    assert 0 < Conversation.objects.count() < 40
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_killed_import_and_a_refused_one_say_what_to_do(
    open_page, admin, realm, start, complaints, scheme, tmp_path
):
    killed = begin_here(
        kind="conversations.import",
        requested_by=("importer", "root"),
        now=NOW,
        parameters={"file": "big.zip", "size": 5_000_000, "realm": realm.slug, "realm_id": realm.pk},
        unit="bytes",
    )
    free_abandoned(now=NOW + LEASE + timedelta(seconds=1))
    (tmp_path / "cv.md").write_text("# not a chat\n")
    refused = import_recorded(
        path=tmp_path / "cv.md", realm=realm, asked_by=Actor(ActorKind.IMPORTER, "root"), now=NOW
    )

    page = open_page(f"/jobs/runs/{killed.pk}/", user=admin, scheme=scheme)
    expect(page.get_by_text("Importing the file again is safe")).to_be_visible()
    accessible(page)
    page.screenshot(path=tmp_path / f"{scheme}-killed.png")
    page.goto(page.url.replace(str(killed.pk), str(refused.run_id)))
    expect(page.get_by_text("taken for text, not JSON")).to_be_visible()
    accessible(page)
    page.screenshot(path=tmp_path / f"{scheme}-refused.png")
    assert complaints == []


def until_told(run):
    """Wait for a beat that began after the stop was asked for."""
    seen = JobRun.objects.get(pk=run.pk).heartbeat_at
    beats = 0
    while beats < 2:
        now = JobRun.objects.get(pk=run.pk).heartbeat_at
        beats, seen = beats + (now != seen), now
