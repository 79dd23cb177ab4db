"""Runs: the list, starting, one run with its report, rows, CSV, rights and hostile names."""

import csv
import io
import json

import pytest
from django.db import connection

from access.models import AccessEntry, Realm
from access.rights import RoleName
from ledger.models import ReconciliationRun, RunRow
from ledger.reconciliation.running import reconcile
from tests.console.conftest import NOW
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
# The session, the user, two of permissions, the reach, the page, what each found, the header's staff; to
# read as the reader: the reach, a savepoint and its end, the role and back.
QUERIES = 13
PRINT_QUERIES = 20


@pytest.fixture
def done(statement, run, pays):
    """USD ties out, JPY 5,800 are unexplained."""
    pays("ch_1")
    return run(statement(line("charge", "ch_1", 1900), line("charge", "ch_9", 5800, currency="jpy")))


def test_the_list_shows_what_each_run_found(finance, done):
    page = finance.get("/reconciliations/")

    (row,) = page.context["rows"]
    assert (row.run, row.found, row.new) == (done, 1, 1)
    assert b"Complete, frozen" in page.content


def test_queries_do_not_grow_with_the_runs(finance, statement, run, django_assert_num_queries):
    document = statement(line("charge", "ch_9", 100))
    run(document)
    finance.get("/reconciliations/")
    with django_assert_num_queries(QUERIES):
        finance.get("/reconciliations/")
    for _ in range(4):
        run(document)
    with django_assert_num_queries(QUERIES):
        page = finance.get("/reconciliations/")
    assert len(page.context["rows"]) == 5


def test_a_run_shows_tie_out_findings_matches_and_inputs(finance, done):
    page = finance.get(f"/reconciliations/{done.pk}/")

    text = page.content.decode()
    assert "1 of 2 currencies do not tie out" in text
    assert "+5,800" in text
    assert "Ties out" in text
    assert page.context["digest"] == f"sha256:{bytes(done.report_sha256).hex()}"
    assert [(kind.kind, kind.number, kind.new) for kind in page.context["shown"].kinds] == [
        ("missing_in_ledger", 1, 1)
    ]
    assert "march.csv" in text


def test_statements_of_one_name_are_told_apart_where_a_run_is_started(finance, statement):
    statement()

    assert "march.csv (wendelmere-eu, stripe)" in finance.get("/reconciliations/start/").content.decode()


def test_a_run_without_a_movement_of_its_realm_says_so(finance, statement, run):
    done, without = run(statement()), run()

    def says(run) -> str:
        return finance.get(f"/reconciliations/{run.pk}/").content.decode()

    assert "No statement was compared" not in says(done)
    assert "No statement was compared" in says(without)


def test_the_rows_are_filtered_by_how_they_were_matched(finance, done):
    page = finance.get(f"/reconciliations/{done.pk}/rows/?matched_by=external_id")

    assert [row.reference for row in page.context["rows"]] == ["ch_1"]


def test_a_page_of_rows_is_read_off_an_index(done):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")

    plan = RunRow.objects.filter(run=done).order_by("-occurred_at", "-id")[:51].explain()

    assert "using runrow_moment " in plan
    assert "Sort" not in plan


def test_a_run_again_has_the_same_digest_and_says_so(finance, done):
    finance.post(f"/reconciliations/{done.pk}/repeat/")
    again = ReconciliationRun.objects.get(repeats=done)
    reconcile(run_id=again.job_id)

    assert b"same digest" in finance.get(f"/reconciliations/{done.pk}/").content
    assert b"same digest" in finance.get(f"/reconciliations/{again.pk}/").content
    assert AccessEntry.objects.filter(action="job_start").count() == 1


def test_a_run_is_started_with_statements_and_frozen(finance, statement):
    document = statement(line("charge", "ch_9", 100))

    page = finance.post("/reconciliations/start/", {"statements": [document.pk]}, follow=True)

    run = ReconciliationRun.objects.get()
    assert page.redirect_chain == [(f"/reconciliations/{run.pk}/", 302)]
    assert (run.since, run.until) == (document.period_start, document.period_end)
    assert run.requested_by_kind == "staff"
    assert b"Queued" in page.content


def test_what_cannot_be_compared_is_refused_on_the_form(finance, statement):
    document = statement()

    page = finance.post("/reconciliations/start/", {"statements": [document.pk], "since": "2020-01-01 00:00"})

    assert b"no statement covers" in page.content
    assert ReconciliationRun.objects.count() == 0


def test_a_second_run_while_one_is_active_is_refused_on_the_form(finance, statement):
    data = {"statements": [statement().pk]}
    finance.post("/reconciliations/start/", data)

    assert b"a run is already queued" in finance.post("/reconciliations/start/", data).content


def test_the_csv_of_a_run_has_every_row_and_is_logged(finance, done):
    response = finance.get(f"/reconciliations/{done.pk}/rows.csv")
    text = b"".join(response.streaming_content).decode("utf-8-sig")

    rows = {row["processor's id"]: row for row in csv.DictReader(io.StringIO(text))}
    assert len(rows) == json.loads(done.report)["rows"]["number"]
    assert (rows["ch_9"]["processor"], rows["ch_9"]["currency"]) == ("5800", "JPY")
    assert (rows["ch_1"]["ledger"], rows["ch_1"]["matched by"]) == ("19.00", "external_id")
    assert AccessEntry.objects.get(action="export").target_id == f"reconciliation {done.pk}"


def test_the_printed_report_has_sums_findings_inputs_and_digests_and_is_logged(finance, done):
    page = finance.get(f"/reconciliations/{done.pk}/print/").content.decode()

    assert AccessEntry.objects.get(action="export").target_id == f"reconciliation {done.pk}"
    assert "+5,800" in page
    assert "ch_9" in page
    assert "Missing in the ledger" in page
    assert f"sha256:{bytes(done.report_sha256).hex()}" in page
    assert f"sha256:{bytes(done.inputs.get().sha256).hex()}" in page
    assert json.loads(done.report)["rows"]["sha256"] in page
    assert "Printed by" in page


def test_queries_of_the_printed_report_do_not_grow(finance, statement, run, django_assert_num_queries):
    few = run(statement(line("charge", "ch_0", 100)))
    many = run(statement(*[line("charge", f"ch_{number}", 100) for number in range(6)]))
    finance.get(f"/reconciliations/{few.pk}/print/")
    for done in (few, many):
        # As the list of runs, and: the line of the log with its savepoint, by kind, inputs, lines that
        # could not be read, repetitions, findings; out of the reader's role and back, twice.
        with django_assert_num_queries(PRINT_QUERIES):
            page = finance.get(f"/reconciliations/{done.pk}/print/")
    assert len(page.context["report"].findings) == 6


def test_a_report_of_more_findings_than_paper_takes_says_how_many_there_are(
    finance, statement, run, monkeypatch
):
    monkeypatch.setattr("console.reconciling.printed.MOST", 2)
    done = run(statement(*[line("charge", f"ch_{number}", 100 + number) for number in range(3)]))

    page = finance.get(f"/reconciliations/{done.pk}/print/").content.decode()

    assert "The first 2 of 3 findings" in page
    assert ("ch_2" in page, "ch_1" in page, "ch_0" in page) == (True, True, False)


def test_a_run_that_is_not_finished_has_no_report_to_print(finance, statement):
    finance.post("/reconciliations/start/", {"statements": [statement().pk]})
    run = ReconciliationRun.objects.get()

    assert finance.get(f"/reconciliations/{run.pk}/print/").status_code == 404
    assert not AccessEntry.objects.filter(action="export").exists()


def test_a_run_leaves_what_no_realm_knows_to_another_if_told_so(finance, statement):
    document = statement(line("charge", "ch_9", 100))
    finance.post("/reconciliations/start/", {"statements": [document.pk], "leaves_unknown": "on"})
    run = ReconciliationRun.objects.get()
    reconcile(run_id=run.job_id)

    assert run.sightings.count() == 0
    assert b"left to the run of another realm" in finance.get(f"/reconciliations/{run.pk}/").content


def test_what_is_left_to_another_realm_is_counted_and_not_listed(finance, statement, run):
    done = run(statement(line("charge", "ch_9", 100)), judges_unknown=False)

    page = finance.get(f"/reconciliations/{done.pk}/").content.decode()
    rows = finance.get(f"/reconciliations/{done.pk}/rows/?matched_by=other_realm").content.decode()
    table = b"".join(finance.get(f"/reconciliations/{done.pk}/rows.csv").streaming_content).decode()
    paper = finance.get(f"/reconciliations/{done.pk}/print/").content.decode()

    assert done.rows.filter(matched_by="other_realm", reference="ch_9").exists()
    assert "1 movement is not of wendelmere-eu" in page
    assert "1 movement is not of wendelmere-eu" in paper
    assert "ch_9" not in page + rows + table + paper


@pytest.mark.parametrize(
    "address",
    [
        "/reconciliations/{run}/",
        "/reconciliations/{run}/print/",
        "/reconciliations/{run}/rows/",
        "/reconciliations/{run}/rows.csv",
        "/statements/{statement}/",
    ],
)
def test_staff_of_another_realm_find_nothing(log_in, done, address):
    other = Realm.objects.create(slug="other", name="Other", created_at=NOW)
    client = log_in(RoleName.FINANCE, realms=[other])

    asked = address.format(run=done.pk, statement=done.inputs.get().statement_id)

    assert client.get(asked).status_code == 404
    assert client.get("/reconciliations/").context["rows"] == []
    assert client.get("/statements/").context["rows"] == []


@pytest.mark.parametrize("address", ["/reconciliations/start/", "/statements/import/"])
def test_who_may_not_reconcile_may_look_but_not_start(log_in, done, address):
    client = log_in(RoleName.AUDITOR)

    assert client.get(f"/reconciliations/{done.pk}/").status_code == 200
    assert client.get(address).status_code == 403
    assert client.post(f"/reconciliations/{done.pk}/repeat/").status_code == 403
