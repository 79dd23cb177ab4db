"""Own recent work, the health of jobs, and whom the page is for."""

from datetime import UTC, datetime

from django.contrib.auth.models import User

from access.rights import RoleName
from conversations.ids import mint_id
from conversations.models import Archive
from conversations.services.appending import append_message
from jobs.models import JobRun
from jobs.services.starting import start_job
from ledger.integrity.verifying import verify_integrity
from retention.archiving import archive_bytes
from tests.console.conftest import CUSTOMER, NOW
from tests.console.home.conftest import lines
from tests.conversations.drafts import user

# The session, the user, two of permissions, the reach; nine that count or sum what waits for finance,
# the failed jobs and the last integrity run; recent work; the schedule; the header's staff.
# Twelve more: to read as the reader, and to step out of it for the access log, the reasons and the walk to
# what is abandoned, which is done once for its count and its sums.
QUERIES = 30


def test_a_failed_job_waits_for_who_sees_jobs_and_health_is_shown(log_in):
    now = datetime.now(UTC)
    JobRun.objects.create(
        id=mint_id(now),
        kind="ledger.sweep",
        requested_by_kind="job",
        state="failed",
        error_code="Boom",
        queued_at=now,
        started_at=now,
        finished_at=now,
    )

    page = log_in(RoleName.AUDITOR).get("/")

    assert lines(page) == {"Jobs that failed in the last 7 days": (1, [])}
    assert {entry.kind.name: entry.last and entry.last.state for entry in page.context["schedule"]}[
        "ledger.sweep"
    ] == "failed"
    assert log_in(RoleName.SUPPORT).get("/").context["schedule"] is None


def test_what_the_integrity_job_found_waits_until_it_is_mended(log_in, make_conversation, settings, tmp_path):
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "blobs": backend}
    talk = make_conversation()
    append_message(conversation_id=talk.pk, message=user(), actor=CUSTOMER, now=NOW)
    archive_bytes(conversation_id=talk.pk, now=NOW)
    path = tmp_path / Archive.objects.get().storage_key
    whole = path.read_bytes()
    path.unlink()
    auditor = log_in(RoleName.AUDITOR)

    verify()
    assert lines(auditor.get("/")) == {"Rules of the store that do not hold": (1, [])}
    path.write_bytes(whole)
    verify()

    assert lines(auditor.get("/")) == {}


def verify():
    run = start_job(kind="ledger.verify_integrity", requested_by=("job", "test"), now=datetime.now(UTC))
    verify_integrity(run_id=run.pk)


def test_recent_work_is_what_the_access_log_has_each_thing_once(log_in, make_conversation, account, open_for):
    first, second = make_conversation(title="First"), make_conversation(title="<b>Second</b>")
    client = log_in(RoleName.SUPPORT)
    open_for(User.objects.get(), second)
    for address in (first, second, first):
        client.get(f"/conversations/{address.pk}/")
    client.get(f"/accounts/{account.pk}/")

    page = client.get("/")

    assert [work.title for work in page.context["recent"]] == [
        "Account cus-1001",
        f"Conversation …{first.pk.hex[-6:]}, 9 Mar 2026, 14:03",
        "<b>Second</b>",
    ]
    assert "<b>Second" not in page.content.decode()
    assert log_in(RoleName.AUDITOR).get("/").context["recent"] == []


def test_queries_do_not_grow_with_what_waits(log_in, charge, django_assert_num_queries):
    finance = log_in(RoleName.FINANCE)
    charge(1, is_settled=False)
    finance.get("/")
    with django_assert_num_queries(QUERIES):
        finance.get("/")
    for number in range(2, 6):
        charge(number, is_settled=False)
    with django_assert_num_queries(QUERIES):
        finance.get("/")


def test_the_page_is_for_staff(client, django_user_model):
    assert client.get("/").status_code == 302

    client.force_login(django_user_model.objects.create_user("customer"))

    assert client.get("/").status_code == 403


def test_signing_in_leads_home(settings):
    assert settings.LOGIN_REDIRECT_URL == "/"
