"""The desk of findings, a run with its progress bar, abandoned charges: in a real browser."""

import re

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import Page, expect

from access.models import AccessEntry, StaffMember
from jobs.models import JobRun
from jobs.services.working import Batch, checkpoint, claim
from ledger.models import Finding
from ledger.reconciliation.starting import Asked, start_reconciliation
from ledger.services.policies import save_policy
from tests.console.browser.rules import accessible
from tests.conversations.conftest import NOW
from tests.conversations.conftest import account as one_account
from tests.ledger.conftest import Talk
from tests.ledger.reconciliation.conftest import (
    CUT_OFF,
    DAY,
    FINANCE,
    begins,
    charge_card,
    conversation,
    line,
    make_account,
    make_conversation,
    pays,
    realm,
    run,
    statement,
)

account = one_account
__all__ = [
    "account",
    "begins",
    "charge_card",
    "conversation",
    "make_account",
    "make_conversation",
    "pays",
    "realm",
    "run",
    "statement",
]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def register(realm):
    """Register the tool that charges; by hand, as this file's `staff` is another."""
    admin = User.objects.create_user("registrar")

    def make(name: str = "charge_card", **given):
        values = {
            "effectful": "yes",
            "replay_policy": "ask",
            "key_scope": "branch_root",
            "operation": "charge",
            "processor": "stripe",
            "amount_path": "amount",
            "currency_path": "currency",
            **given,
        }
        return save_policy(realm=realm, name=name, user=admin, now=NOW, **values)

    return make


@pytest.fixture
def finance(transactional_db: None) -> User:
    member = User.objects.create_user("tomasz", is_staff=True, first_name="Tomasz", last_name="Reyes")
    member.groups.add(Group.objects.get(name="finance"))
    StaffMember.objects.create(user=member, sees_all_realms=True)
    return member


@pytest.fixture
def month(statement, run, pays, begins, make_conversation):
    """One run with findings of several kinds and currencies."""
    talk = Talk(make_conversation())
    asked = talk.says()
    pays("ch_3SXq4kWm7TnLdR2v0bYhZp6E", talk=talk, below=asked, amount=18000, currency="eur")
    edited = talk.edits(asked)
    pays("ch_3SXq8dWm7TnLdR2v1nKtRw3C", talk=talk, below=edited, amount=13500, currency="eur")
    pays("ch_3SVm2pWm7TnLdR2v1oUcXe7N", amount=4950, currency="eur")
    begins(amount=9900, currency="eur")
    return run(
        statement(
            line("charge", "ch_3SXq4kWm7TnLdR2v0bYhZp6E", 18000, currency="eur"),
            line("charge", "ch_3SXq8dWm7TnLdR2v1nKtRw3C", 13500, currency="eur"),
            line("charge", "ch_3SWc9xWm7TnLdR2v1rGsVw8D<b>", 14200, currency="jpy"),
            line("charge", "ch_3SVm2pWm7TnLdR2v1oUcXe7N", 4985, currency="eur"),
        )
    )


def look(page: Page, name: str, tmp_path_factory) -> None:
    page.screenshot(path=str(tmp_path_factory.getbasetemp() / f"{name}.png"), full_page=True)


def test_findings_are_ticked_settled_with_a_reason_and_gone_from_the_desk(
    open_page, finance, month, complaints, tmp_path_factory
):
    page = open_page("/findings/", user=finance)
    accessible(page)
    look(page, "findings", tmp_path_factory)
    expect(page.get_by_role("row", name=re.compile("Select .*Abandoned charge"))).to_be_visible()
    page.get_by_role("row", name=re.compile("Amount differs")).get_by_role("checkbox").check()
    page.get_by_role("button", name="Settle…").click()

    expect(page.get_by_role("heading", name="Settle 1 finding")).to_be_visible()
    accessible(page)
    page.get_by_label("Settled as").select_option("accepted")
    page.get_by_label("Reason").fill("A rounding of the bank's")
    page.get_by_role("button", name="Settle 1 finding").click()

    expect(page.get_by_text("1 finding settled.")).to_be_visible()
    assert Finding.objects.get(kind="amount_differs").resolution == "accepted"
    assert complaints == []


def test_a_finding_leads_to_its_effect_and_keeps_what_was_written(
    open_page, finance, month, complaints, tmp_path_factory
):
    page = open_page("/findings/?kind=abandoned", user=finance)
    page.get_by_role("link", name=re.compile(r"F-\d+")).first.click()
    page.get_by_role("textbox", name="Comment").fill("Asked the customer <b>today</b>")
    page.get_by_role("button", name="Write").click()

    expect(page.get_by_text("Asked the customer <b>today</b>")).to_be_visible()
    accessible(page)
    look(page, "finding", tmp_path_factory)
    assert complaints == []


def test_a_run_shows_its_tie_out_and_prints_without_its_frame(
    open_page, finance, month, complaints, tmp_path_factory
):
    page = open_page(f"/reconciliations/{month.pk}/", user=finance)
    accessible(page)
    look(page, "run", tmp_path_factory)
    expect(page.get_by_text("+14,200").first).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("EUR.*Unexplained money"))).to_be_visible()

    page.emulate_media(media="print")

    expect(page.locator("#nav-sidebar")).to_be_hidden()
    expect(page.get_by_text("Printed by Tomasz Reyes")).to_be_visible()
    look(page, "run-printed", tmp_path_factory)
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_of_a_run_goes_on_paper_and_into_the_access_log(
    open_page, finance, month, complaints, tmp_path_factory, scheme
):
    page = open_page(f"/reconciliations/{month.pk}/", user=finance, scheme=scheme)
    page.get_by_role("link", name="Print").click()
    accessible(page)
    page.evaluate("window.print = () => { window.hasPrinted = true; }")
    page.get_by_role("button", name="Print").click()

    assert page.evaluate("window.hasPrinted")
    page.emulate_media(media="print")
    expect(page.get_by_role("button", name="Print")).to_be_hidden()
    expect(page.get_by_text("Printed by Tomasz Reyes")).to_be_visible()
    expect(page.get_by_text(f"sha256:{bytes(month.report_sha256).hex()}")).to_be_visible()
    look(page, f"run-on-paper-{scheme}", tmp_path_factory)
    assert list(AccessEntry.objects.filter(action="export").values_list("target_id", flat=True)) == [
        f"reconciliation {month.pk}"
    ]
    assert complaints == []


def test_a_run_at_work_has_a_bar_that_moves(
    open_page, finance, statement, realm, complaints, tmp_path_factory
):
    document = statement(line("charge", "ch_1", 1))
    asked = Asked(realm=realm, processor="stripe", statement_ids=[document.pk], cut_off=CUT_OFF)
    started = start_reconciliation(asked=asked, actor=FINANCE, now=CUT_OFF + DAY)
    job = claim(run_id=started.job_id, now=CUT_OFF + DAY)
    checkpoint(job, Batch(cursor={"phase": "lines"}, done=402, total=655), now=CUT_OFF + DAY)

    page = open_page(f"/reconciliations/{started.pk}/", user=finance)
    expect(page.get_by_role("progressbar", name="402 of 655 done")).to_be_visible()
    look(page, "run-at-work", tmp_path_factory)
    checkpoint(JobRun.objects.get(pk=job.pk), Batch(cursor={"phase": "lines"}, done=100), now=CUT_OFF + DAY)

    expect(page.get_by_role("progressbar", name="502 of 655 done")).to_be_visible()
    assert complaints == []


def test_abandoned_charges_lead_to_the_two_branches(open_page, finance, month, complaints, tmp_path_factory):
    page = open_page("/abandoned/", user=finance, scheme="dark")
    accessible(page)
    look(page, "abandoned", tmp_path_factory)

    expect(page.get_by_text("charged again")).to_be_visible()
    page.get_by_role("link", name="compare both").click()

    expect(page).to_have_url(re.compile(r"/compare/\?a=\d+&b=\d+"))
    assert complaints == []
