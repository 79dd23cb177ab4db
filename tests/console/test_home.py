"""The first page: what waits, by role; own recent work; the health of jobs."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from access.models import Realm
from access.rights import RoleName
from conversations.drafts import MessageDraft
from conversations.ids import mint_id
from conversations.models import Archive
from conversations.services.appending import append_message
from conversations.vocabulary import Role
from jobs.models import JobRun
from jobs.services.starting import start_job
from ledger.integrity.verifying import verify_integrity
from ledger.models import Finding, ReconciliationRun
from ledger.services.compensating import request_compensation
from ledger.vocabulary import CompensationReason
from retention.archiving import archive_bytes
from retention.models import ErasureRequest
from retention.services.holds import place_hold, request_release
from tests.console import money
from tests.console.conftest import CUSTOMER, NOW
from tests.conversations.drafts import user
from tests.conversations.schema.rows import insert

# The session, the user, two of permissions, the reach; nine that count or sum what waits for finance,
# the failed jobs and the last integrity run; recent work; the schedule; the header's staff.
# Twelve more: to read as the reader, and to step out of it for the access log, the reasons and the walk to
# what is abandoned, which is done once for its count and its sums.
QUERIES = 30


@pytest.fixture
def registrar(make_staff):
    return make_staff(RoleName.ADMINISTRATOR, name="registrar")


@pytest.fixture
def charge(make_conversation, say, registrar):
    """A conversation with a charge that is settled, or was sent and not answered."""

    def make(number: int = 1, *, is_settled: bool = True):
        conversation = make_conversation(title=f"Trip {number}")
        money.register_tool(conversation, registrar)
        say(conversation, user())
        call_id = f"toolu_{number}"
        draft = MessageDraft(role=Role.ASSISTANT, parts=[money.charging(call_id)])
        effect = money.begin(conversation, say(conversation, draft), call_id)
        if is_settled:
            return money.settle(effect, f"ch_{number}")
        money.mark_sent(effect_id=effect.pk, now=NOW)
        return effect

    return make


def lines(page) -> dict[str, tuple[int, list[tuple[int, str]]]]:
    return {
        row.what: (row.count, row.amounts) for section in page.context["sections"] for row in section.rows
    }


def test_with_nothing_to_do_the_page_says_so(log_in):
    page = log_in(RoleName.SUPPORT).get("/")

    assert page.context["sections"] == []
    assert "Nothing waits for you" in page.content.decode()


def test_finance_sees_unknown_outcomes_with_their_sum_and_late_first(log_in, charge):
    charge(1, is_settled=False)
    charge(2, is_settled=False)

    page = log_in(RoleName.FINANCE).get("/")

    assert lines(page) == {"Effects sent, answer unknown": (2, [(3800, "usd")])}
    assert page.context["sections"][0].rows[0].is_late


def test_a_refund_waits_for_another_person(log_in, charge, make_staff):
    asker = make_staff(RoleName.FINANCE, name="asker")
    request_compensation(
        effect_id=charge().pk, amount_minor=900, reason=CompensationReason.ERROR, user=asker, now=NOW
    )
    approver = log_in(RoleName.FINANCE_APPROVER)
    support = log_in(RoleName.SUPPORT)

    assert lines(approver.get("/")) == {"Refunds that wait for your decision": (1, [(900, "usd")])}
    assert lines(support.get("/")) == {}


@pytest.fixture
def findings(realm):
    """Open findings of 19.00 USD each; `owner` has taken them, or nobody."""

    def make(number: int, *, owner=None, due_in: timedelta = timedelta(days=1)) -> None:
        now = datetime.now(UTC)
        run = ReconciliationRun.objects.create(
            id=mint_id(now),
            realm=realm,
            processor="stripe",
            since=now - timedelta(days=1),
            until=now,
            cut_off=now,
            decisions_until=now,
            policy={},
            requested_at=now,
            requested_by_kind="job",
        )
        for _ in range(number):
            Finding.objects.create(
                realm=realm,
                processor="stripe",
                kind="missing_in_ledger",
                subject=mint_id(now).hex,
                state="open",
                assigned_to=owner,
                currency="usd",
                amount_minor=1900,
                occurred_at=now,
                first_run=run,
                last_run=run,
                first_seen_at=now,
                last_seen_at=now,
                judged_as_of=now,
                due_at=now + due_in,
            )

    return make


def test_findings_wait_for_who_took_them_and_for_anybody_until_then(log_in, make_staff, findings):
    finance = log_in(RoleName.FINANCE, name="fin")
    findings(2)
    findings(1, owner=User.objects.get(username="fin"), due_in=-timedelta(hours=1))
    findings(1, owner=make_staff(RoleName.FINANCE, name="other"))

    page = finance.get("/")

    assert lines(page) == {
        "Findings that are yours": (1, [(1900, "usd")]),
        "Findings that nobody has taken": (2, [(3800, "usd")]),
    }
    assert [row.is_late for row in page.context["sections"][0].rows] == [True, False]
    for row in page.context["sections"][0].rows:
        assert len(finance.get(row.url).context["rows"]) == row.count
    assert lines(log_in(RoleName.AUDITOR).get("/")) == {}


def test_erasures_wait_for_who_handles_them_and_for_another_persons_approval(log_in, account):
    petra = log_in(RoleName.PRIVACY_OFFICER, name="petra")
    names = {"realm": account.realm_id, "names": account.email, "account": [account.pk]}
    petra.post(
        "/retention/erasures/intake/", {**names, "received_on": timezone.localdate() - timedelta(days=25)}
    )
    asked = ErasureRequest.objects.get()
    for step, given in (("identity", {"how": "signed_in", "note": "called back"}), ("preview", {})):
        petra.post(f"/retention/erasures/{asked.pk}/{step}/", given)
    other = log_in(RoleName.PRIVACY_OFFICER, name="quentin")

    assert lines(petra.get("/")) == {"Erasure requests that are open": (1, [])}
    page = other.get("/")
    assert lines(page) == {
        "Erasure requests that are open": (1, []),
        "Erasures that wait for your approval": (1, []),
    }
    # Five of its thirty days are left.
    assert page.context["sections"][0].rows[0].is_late
    for row in page.context["sections"][0].rows:
        assert len(other.get(row.url).context["rows"]) == row.count
    assert other.get("/retention/erasures/?state=approved").context["rows"] == []


def test_the_release_of_a_hold_waits_for_a_second_person(log_in, make_conversation):
    petra = log_in(RoleName.PRIVACY_OFFICER, name="petra")
    asker = User.objects.get(username="petra")
    for asked in (True, False):
        hold = place_hold(conversation_id=make_conversation().pk, matter="M-7", user=asker, now=NOW)
        if asked:
            request_release(hold_id=hold.pk, user=asker, now=NOW)
    other = log_in(RoleName.PRIVACY_OFFICER, name="quentin")

    page = other.get("/")

    assert lines(petra.get("/")) == {}
    assert lines(page) == {"Releases of holds that wait for a second person": (1, [])}
    assert len(other.get(page.context["sections"][0].rows[0].url).context["rows"]) == 1


def test_quarantined_nodes_wait_for_who_may_see_raw_payloads(log_in, make_conversation):
    now = datetime.now(UTC)
    first, second, old = (make_conversation(title=f"Chat {number}") for number in range(3))
    for conversation, at in ((first, now), (first, now), (second, now), (old, now - timedelta(days=9))):
        row = {"raw_class": "quarantine", "conversation_id": conversation.pk, "created_at": at}
        insert("rawbody", id=mint_id(at), **row)
    auditor = log_in(RoleName.AUDITOR)

    page = auditor.get("/")

    assert lines(page) == {"Conversations with quarantined nodes of the last 7 days": (2, [])}
    listed = auditor.get(page.context["sections"][0].rows[0].url)
    assert {row.conversation for row in listed.context["rows"]} == {first, second}
    assert lines(log_in(RoleName.SUPPORT).get("/")) == {}


def test_what_waits_in_another_realm_waits_for_its_own_staff(log_in, findings, make_conversation):
    findings(1)
    insert("rawbody", id=mint_id(NOW), raw_class="quarantine", conversation_id=make_conversation().pk)
    other = Realm.objects.create(slug="other", name="Other", created_at=NOW)

    for role in (RoleName.FINANCE, RoleName.AUDITOR, RoleName.PRIVACY_OFFICER):
        assert lines(log_in(role, realms=[other], name=role.value).get("/")) == {}


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


def test_every_number_of_what_waits_is_a_link(log_in, charge):
    charge(1, is_settled=False)

    page = log_in(RoleName.FINANCE).get("/").content.decode()

    assert '<td class="num"><a href="/effects/?state=unknown">1</a></td>' in page


def test_the_page_is_for_staff(client, django_user_model):
    assert client.get("/").status_code == 302

    client.force_login(django_user_model.objects.create_user("customer"))

    assert client.get("/").status_code == 403


def test_signing_in_leads_home(settings):
    assert settings.LOGIN_REDIRECT_URL == "/"
