"""Journeys through the search box, money and jobs in a real browser: no complaint, no serious violation."""

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import expect

from access.models import AccessEntry, Realm, StaffMember
from conversations.drafts import MessageDraft
from conversations.models import Conversation
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message
from conversations.services.starting import start_conversation
from conversations.vocabulary import Role
from jobs.models import JobRun
from jobs.services.working import Batch, checkpoint, claim
from ledger.models import Compensation, ToolEffect
from tests.console import money
from tests.console.browser.rules import accessible
from tests.console.conftest import CUSTOMER, NOW
from tests.conversations.drafts import results, user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CALL = "toolu_01A7bK9wq2Vd8sJ1n4Yh2P"
HOSTILE = "<img src=x onerror='window.pwned = 1'>\u202eevil"


@pytest.fixture
def staff_of(transactional_db: None) -> Callable[[str], User]:
    def make(role: str) -> User:
        member = User.objects.create_user(role, is_staff=True, first_name=role.capitalize(), last_name="Lind")
        member.groups.add(Group.objects.get(name=role))
        StaffMember.objects.create(user=member, sees_all_realms=True)
        return member

    return make


@pytest.fixture
def conversation(transactional_db: None) -> Conversation:
    realm = Realm.objects.create(slug="wendelmere-eu", name="Wendelmere", created_at=NOW)
    account = ensure_account(
        realm=realm, external_id="cus-1001", label=HOSTILE, email="ines@example.com", now=NOW
    )
    return start_conversation(account_id=account.pk, now=NOW, title=f"Lisbon {HOSTILE}")


@pytest.fixture
def effect(conversation: Conversation) -> ToolEffect:
    money.register_tool(conversation, User.objects.create_user("registrar"))
    fields = {"conversation_id": conversation.pk, "actor": CUSTOMER, "now": NOW}
    append_message(message=user(f"Buy credits {HOSTILE}"), **fields)
    draft = MessageDraft(role=Role.ASSISTANT, parts=[money.charging(CALL)])
    seq = append_message(message=draft, **fields).seq
    made = money.settle(money.begin(conversation, seq, CALL), "ch_3SXq4kWm7TnLdR2v")
    append_message(message=results(CALL), **fields)
    return made


def test_a_tickets_id_with_noise_leads_to_its_call(open_page, staff_of, effect, conversation, complaints):
    page = open_page("/", user=staff_of("support"))

    page.keyboard.press("/")
    page.keyboard.type(f'see "{CALL}".')
    page.keyboard.press("Enter")

    page.wait_for_url(f"**/conversations/{conversation.pk}/?m=2&found={CALL}#m2")
    expect(page.locator(".is-found")).to_have_count(1)
    expect(page.locator(".is-found")).to_be_in_viewport()
    page.get_by_label("Ticket number").fill("SUP-48213")
    page.get_by_role("button", name="Open for").click()
    expect(page.locator(".is-found details[open]")).to_have_count(1)
    accessible(page)
    assert page.evaluate("window.pwned") is None
    assert complaints == []


def test_words_lead_to_a_text(open_page, staff_of, effect, conversation, complaints):
    page = open_page("/search/?q=credits", user=staff_of("support"))

    expect(page.locator(".hit mark").first).to_have_text("credits")
    page.locator(".hit-kind a").first.click()

    page.wait_for_url(f"**/conversations/{conversation.pk}/?m=*")
    assert complaints == []


def test_a_refund_is_asked_for_by_one_and_approved_by_another(open_page, staff_of, effect, complaints):
    page = open_page("/search/?q=ch_3SXq4kWm7TnLdR2v", user=staff_of("finance"))
    page.wait_for_url(f"**/effects/{effect.pk}/")
    page.get_by_label("Amount in USD").fill("9.00")
    page.get_by_label("Note").fill("Bought twice")
    page.get_by_role("button", name="Ask for the refund").click()
    expect(page.get_by_text("You asked for it, so another person decides.")).to_be_visible()
    accessible(page)

    other = open_page("/", user=staff_of("finance_approver"))
    other.get_by_role("link", name="Decide").click()
    other.wait_for_url("**/refunds/?state=requested")
    other.locator("#content tbody th a").first.click()
    other.get_by_label("Remark").fill("By phone")
    other.get_by_role("button", name=re.compile("Approve USD.?9.00")).click()

    expect(other.get_by_text("Approved, not sent")).to_be_visible()
    accessible(other)
    assert Compensation.objects.get().state == "approved"
    assert AccessEntry.objects.filter(action="change", target_kind="effect").count() == 2
    assert complaints == []


def test_a_run_moves_while_one_looks(open_page, staff_of, complaints):
    run = JobRun.objects.create(
        id="019cd2e8-8620-7217-af5e-cc03de7e9a03",
        kind="conversations.verify_replay",
        requested_by_kind="job",
        state="queued",
        total=4,
        queued_at=NOW,
    )
    page = open_page(f"/jobs/runs/{run.pk}/", user=staff_of("administrator"))
    expect(page.locator("progress")).to_have_attribute("value", "0")

    claimed = claim(run_id=run.pk, now=NOW)
    checkpoint(claimed, Batch(cursor=[1], done=3, counts={"bodies": {"exact": 3}}), now=NOW)
    expect(page.locator("progress")).to_have_attribute("value", "3")
    accessible(page)
    checkpoint(claimed, Batch(cursor=None, done=1, counts={"bodies": {"exact": 1}}), now=NOW)

    expect(page.locator("#progress")).to_contain_text("Done")
    expect(page.locator("[hx-trigger]")).to_have_count(0)
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_of_money_and_jobs_is_accessible_and_runs_nothing(
    open_page, staff_of, effect, complaints, scheme
):
    admin = staff_of("administrator")
    page = open_page("/", user=admin, scheme=scheme)
    here = page.url.rstrip("/")

    for address in (
        *(
            "/",
            "/search/?q=credits",
            "/search/?q=ch_nowhere",
            "/accounts/",
            f"/accounts/{effect.account_id}/",
        ),
        *(f"/accounts/{effect.account_id}/statement/?from=2026-03-01&to=2026-03-31", "/effects/"),
        *(f"/effects/{effect.pk}/", "/effects/totals/", "/refunds/", "/questions/", "/events/"),
        *("/tool-registry/", "/tool-registry/new/", "/tools/?from=2026-03-01&to=2026-03-31", "/tools/calls/"),
        *("/costs/?from=2026-03-01&to=2026-03-31", "/costs/prices/", "/jobs/", "/jobs/runs/"),
        "/jobs/start/ledger.sweep/",
    ):
        page.goto(here + address)
        accessible(page)
        assert page.evaluate("window.pwned") is None, address
    assert complaints == []
