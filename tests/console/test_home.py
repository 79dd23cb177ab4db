"""The first page: what waits, by role; own recent work; the health of jobs."""

from datetime import UTC, datetime

import pytest

from access.rights import RoleName
from conversations.drafts import MessageDraft
from conversations.ids import mint_id
from conversations.vocabulary import Role
from jobs.models import JobRun
from ledger.services.compensating import request_compensation
from ledger.vocabulary import CompensationReason
from tests.console import money
from tests.console.conftest import NOW
from tests.conversations.drafts import user

# The session, the user, two of permissions, the reach; eight that count or sum what waits for finance,
# and the failed jobs; recent work; the schedule; the header's staff.
# Nine more: to read as the reader, and to step out of it for the access log and the reasons.
QUERIES = 25


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


def test_recent_work_is_what_the_access_log_has_each_thing_once(log_in, make_conversation, account):
    first, second = make_conversation(title="First"), make_conversation(title="<b>Second</b>")
    client = log_in(RoleName.SUPPORT)
    for address in (first, second, first):
        client.get(f"/conversations/{address.pk}/")
    client.get(f"/accounts/{account.pk}/")

    page = client.get("/")

    assert [work.title for work in page.context["recent"]] == ["Account cus-1001", "First", "<b>Second</b>"]
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
