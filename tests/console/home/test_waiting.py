"""What waits, by role."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from access.models import Realm
from access.rights import RoleName
from conversations.ids import mint_id
from ledger.models import WebhookEvent
from ledger.services.compensating import request_compensation
from ledger.vocabulary import CompensationReason
from retention.models import ErasureRequest
from retention.services.holds import place_hold, request_release
from tests.console.conftest import NOW
from tests.console.home.conftest import lines
from tests.conversations.schema.rows import insert
from tests.ledger.made_rows import make_finding, make_run


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
        run = make_run(realm, at=now)
        for _ in range(number):
            make_finding(
                run,
                subject=mint_id(now).hex,
                at=now,
                kind="missing_in_ledger",
                assigned_to=owner,
                currency="usd",
                amount_minor=1900,
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


def test_every_number_of_what_waits_is_a_link(log_in, charge):
    charge(1, is_settled=False)

    page = log_in(RoleName.FINANCE).get("/").content.decode()

    assert '<td class="num"><a href="/effects/?state=unknown">1</a></td>' in page


def test_events_in_trouble_are_those_of_the_last_7_days_that_the_list_shows(log_in):
    for number, (days, trouble) in enumerate(
        [(0, "unmatched"), (3, "unreadable"), (3, ""), (8, "unmatched")]
    ):
        at = timezone.now() - timedelta(days=days)
        WebhookEvent.objects.create(
            id=mint_id(at),
            processor="stripe",
            event_id=f"evt_{number}",
            type="charge.succeeded",
            occurred_at=at,
            received_at=at,
            processed_at=at,
            trouble=trouble,
        )
    client = log_in(RoleName.FINANCE)

    [row] = client.get("/").context["sections"][0].rows

    assert (row.what, row.count) == ("Events of processors of the last 7 days that could not be applied", 2)
    assert [shown.event.event_id for shown in client.get(row.url).context["rows"]] == ["evt_0", "evt_1"]
