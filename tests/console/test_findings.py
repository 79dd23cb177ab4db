"""The desk of findings: list, ageing, filters, rights, bulk steps, one finding, hostile text, its CSV."""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest

from access.models import AccessEntry, Realm
from access.rights import RoleName
from conversations.models import Account
from conversations.services.heads import switch_head
from ledger.models import Compensation, Finding
from ledger.reconciliation.vocabulary import Resolution
from tests.console.conftest import CUSTOMER, NOW
from tests.ledger.reconciliation.conftest import (
    begins,
    charge_card,
    line,
    pays,
    register,
    run,
    staff,
    statement,
)

__all__ = ["begins", "charge_card", "pays", "register", "run", "staff", "statement"]

pytestmark = pytest.mark.django_db
# The session, the user, two of permissions, the reach, the latest run, its waiting rows, ageing, owners,
# the page, the owners' names, the list of those who may own, the header's staff; to read as the reader:
# the reach, a savepoint and its end, the role and back.
QUERIES = 18


@pytest.fixture
def desk(statement, run):
    """Two findings, due in a week: JPY 5,800 and USD 1.00 that the ledger lacks."""
    run(statement(line("charge", "ch_8", 100), line("charge", "ch_9", 5800, currency="jpy")))
    Finding.objects.update(due_at=datetime.now(UTC) + timedelta(days=7))
    return list(Finding.objects.order_by("reference"))


def act(client, *findings, do, **fields):
    data = {"f": [finding.pk for finding in findings], "do": do, **fields}
    return client.post("/findings/act/", data, follow=True)


def test_the_desk_shows_open_findings_with_ageing_and_owners(finance, desk):
    page = finance.get("/findings/")

    assert {row.finding.reference for row in page.context["rows"]} == {"ch_8", "ch_9"}
    assert page.context["open_count"] == 2
    assert [band.number for band in page.context["bands"]] == [0, 0, 2]
    assert b"5,800" in page.content
    assert b"Missing in the ledger" in page.content


def test_past_due_stands_apart(finance, desk):
    Finding.objects.filter(pk=desk[0].pk).update(due_at=datetime.now(UTC) - timedelta(days=1))

    late = finance.get("/findings/?due=late")

    assert [row.finding for row in late.context["rows"]] == [desk[0]]
    assert late.context["rows"][0].is_late


def test_queries_do_not_grow_with_the_findings(finance, statement, run, django_assert_num_queries):
    run(statement(*[line("charge", f"ch_{number}", 100 + number) for number in range(4)]))
    finance.get("/findings/")
    with django_assert_num_queries(QUERIES):
        finance.get("/findings/")
    run(statement(*[line("charge", f"ch_{number}", 100 + number) for number in range(20)]))
    with django_assert_num_queries(QUERIES):
        page = finance.get("/findings/")
    assert len(page.context["rows"]) == 20


def test_the_oldest_stand_first_and_pages_lead_on_to_newer_ones(finance, statement, run):
    run(statement(*[line("charge", f"ch_{number:03}", 100 + number) for number in range(120)]))
    ids = list(Finding.objects.order_by("first_seen_at", "id").values_list("pk", flat=True))

    first = finance.get("/findings/")
    second = finance.get(f"/findings/{first.context['newer']}")
    third = finance.get(f"/findings/{second.context['newer']}")
    back = finance.get(f"/findings/{third.context['older']}")

    pages = [[row.finding.pk for row in page.context["rows"]] for page in (first, second, third, back)]
    assert pages == [ids[:50], ids[50:100], ids[100:], ids[50:100]]
    assert (first.context["older"], third.context["newer"]) == ("", "")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("kind=missing_in_ledger", {"ch_8", "ch_9"}),
        ("kind=abandoned", set()),
        ("currency=JPY", {"ch_9"}),
        ("owner=nobody", {"ch_8", "ch_9"}),
        ("owner=mine", set()),
        ("state=resolved", set()),
        ("q=ch_8", {"ch_8"}),
        ("q=nothing", set()),
    ],
)
def test_each_filter_keeps_what_it_names(finance, desk, query, expected):
    page = finance.get(f"/findings/?{query}")

    assert {row.finding.reference for row in page.context["rows"]} == expected


def test_a_finding_is_found_by_its_number(finance, desk):
    page = finance.get(f"/findings/?q=F-{desk[0].pk}")

    assert [row.finding for row in page.context["rows"]] == [desk[0]]


def test_staff_of_another_realm_see_nothing(log_in, desk):
    other = Realm.objects.create(slug="other", name="Other", created_at=NOW)
    client = log_in(RoleName.FINANCE, realms=[other])

    assert client.get("/findings/").context["rows"] == []
    assert client.get(f"/findings/{desk[0].pk}/").status_code == 404
    assert act(client, desk[0], do="assign", to="").status_code == 403


def test_who_may_not_settle_sees_no_ticks_and_is_refused(log_in, desk):
    client = log_in(RoleName.AUDITOR)

    assert b'name="f"' not in client.get("/findings/").content
    assert act(client, desk[0], do="assign", to="").status_code == 403
    assert AccessEntry.objects.filter(action="refused").count() == 1


def test_findings_are_assigned_in_one_step_and_it_is_logged(finance, desk):
    user = finance.get("/findings/").wsgi_request.user

    act(finance, *desk, do="assign", to=user.pk)

    assert set(Finding.objects.values_list("assigned_to", flat=True)) == {user.pk}
    assert AccessEntry.objects.get(target_kind="finding").row_count == 2


def test_settling_asks_for_the_reason_on_a_page_of_its_own(finance, desk):
    asked = act(finance, *desk, do="resolve")
    assert b"Settle 2 findings" in asked.content
    assert Finding.objects.filter(state="open").count() == 2

    act(finance, *desk, do="resolve", resolution=Resolution.NOT_OURS, reason="test charges")

    assert set(Finding.objects.values_list("state", "resolution")) == {("resolved", "not_ours")}


def test_settling_without_a_reason_asks_again(finance, desk):
    page = act(finance, desk[0], do="resolve", resolution=Resolution.OTHER, reason="")

    assert b"This field is required" in page.content
    assert Finding.objects.filter(state="open").count() == 2


def test_nothing_ticked_changes_nothing_and_says_so(finance, desk):
    page = act(finance, do="assign", to="")

    assert b"no finding is selected" in page.content


@pytest.mark.parametrize("data", [{"f": "x", "do": "assign"}, {"f": "1", "do": "delete"}, {"f": "1"}])
def test_what_no_page_sends_is_refused(finance, desk, data):
    assert finance.post("/findings/act/", data).status_code == 400


def test_one_finding_shows_its_history_lines_and_words(finance, desk):
    finding = desk[0]
    act(finance, finding, do="comment", text="Asked the bank", on=finding.pk)
    act(finance, finding, do="resolve", resolution=Resolution.ACCEPTED, reason="too small", on=finding.pk)
    act(finance, finding, do="reopen", reason="not so small", on=finding.pk)

    page = finance.get(f"/findings/{finding.pk}/")

    assert [told.event.action for told in page.context["shown"].history] == [
        "opened",
        "commented",
        "resolved",
        "reopened",
    ]
    for words in (b"Asked the bank", b"too small", b"not so small", b"march.csv"):
        assert words in page.content


def test_a_duplicate_leads_to_the_charges_that_it_repeats(finance, desk):
    earlier = "0193a1b2-0000-7000-8000-00000000ffff"
    Finding.objects.filter(pk=desk[0].pk).update(kind="duplicate", facts={"of": [earlier]})

    page = finance.get(f"/findings/{desk[0].pk}/").content.decode()

    assert f'href="/effects/{earlier}/"' in page


def test_words_and_names_of_strangers_are_escaped_and_made_visible(finance, statement, run):
    run(statement(line("charge", "ch_<script>\u202e", 100), name="<b>.csv"))
    finding = Finding.objects.get()
    act(finance, finding, do="comment", text="<img src=x> \u202e", on=finding.pk)

    for address in ("/findings/", f"/findings/{finding.pk}/"):
        page = finance.get(address)
        assert b"<script>\xe2" not in page.content
        assert b"<img src=x>" not in page.content
        assert "U+202E" in page.content.decode()


def test_a_refund_is_asked_for_after_a_page_that_says_what_will_happen(finance, pays, run, account):
    effect = pays("ch_1")
    switch_head(conversation_id=effect.conversation_id, seq=1, actor=CUSTOMER, now=NOW)
    run()
    finding = Finding.objects.get(kind="abandoned")

    asked = act(finance, finding, do="refund")
    assert asked.context["subtitle"] == "Asking moves no money: another person decides."
    assert b"another person approves it" in asked.content
    assert Compensation.objects.count() == 0
    act(finance, finding, do="refund", is_sure="yes")

    finding.refresh_from_db()
    assert finding.compensation_asked.amount_minor == 1900
    assert Account.objects.filter(pk=finding.account_id).exists()


def test_a_suggested_match_is_confirmed_on_its_page(finance, begins, statement, run):
    effect = begins()
    run(statement(line("charge", "ch_9", 1900)))
    finding = Finding.objects.get()
    assert b"It is that one" in finance.get(f"/findings/{finding.pk}/").content

    act(finance, finding, do="confirm", on=finding.pk)

    effect.refresh_from_db()
    assert (effect.state, effect.external_ref) == ("applied", "ch_9")


def test_a_charge_without_an_answer_is_settled_by_the_statement_that_shows_it(
    finance, log_in, begins, statement, run
):
    effect = begins()
    run(statement(line("charge", "ch_9", 1900, effect=effect)))
    finding = Finding.objects.get()
    page = finance.get(f"/findings/{finding.pk}/").content.decode()
    assert "Settle the charge by the statement" in page
    assert act(log_in(RoleName.AUDITOR), finding, do="take", on=finding.pk).status_code == 403

    act(finance, finding, do="take", on=finding.pk)

    effect.refresh_from_db()
    finding.refresh_from_db()
    assert (effect.state, effect.external_ref) == ("applied", "ch_9")
    assert (finding.state, finding.resolution) == ("resolved", "recorded")
    assert (
        "Settle the charge by the statement" not in finance.get(f"/findings/{finding.pk}/").content.decode()
    )


def test_the_csv_has_the_currencys_decimals_and_is_logged(finance, desk):
    response = finance.get("/findings/list.csv?currency=JPY")
    text = b"".join(response.streaming_content).decode("utf-8-sig")

    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["currency"], row["amount"], row["processor's id"]) == ("JPY", "5800", "ch_9")
    assert AccessEntry.objects.get(action="export").target_id == "findings"


def test_the_csv_needs_the_right_to_export(log_in, desk):
    assert log_in(RoleName.SUPPORT).get("/findings/list.csv").status_code == 403


def test_an_empty_desk_says_that_all_is_done(finance, realm):
    assert b"No open finding" in finance.get("/findings/").content


def test_a_findings_name_in_the_search_box_leads_to_it(log_in, desk):
    support = log_in(RoleName.SUPPORT)
    address = f"/findings/{desk[0].pk}/"

    for pasted in (f"F-{desk[0].pk}", f"f-{desk[0].pk}", f"“F-{desk[0].pk}”."):
        assert support.get("/search/", {"q": pasted}).headers.get("Location") == address
    for pasted in ("F-999999999999999999", "F-9999999999999999999999", f"F-{desk[0].pk}x", "F-"):
        assert support.get("/search/", {"q": pasted}).context["exact"].places == []


def test_a_finding_of_a_realm_that_is_not_seen_is_not_found_by_its_name(log_in, desk):
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=datetime.now(UTC))

    page = log_in(RoleName.SUPPORT, realms=[elsewhere]).get("/search/", {"q": f"F-{desk[0].pk}"})

    assert page.context["exact"].places == []
