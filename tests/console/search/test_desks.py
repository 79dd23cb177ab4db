"""From the id in a ticket to what stands at a desk: runs, statements, holds, erasure requests, alerts."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from access.models import Realm
from access.rights import RoleName
from conversations.ids import mint_id
from jobs.models import JobRun
from ledger.models import Alert, Finding, GuardQuestion, StatementLine, WebhookEvent
from retention.models import ErasureRequest
from retention.services.holds import place_hold
from tests.console.conftest import NOW
from tests.console.search.conftest import find, leads_to
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

DIGEST = "5f" * 32
# As for a call (test_ids.py), less the probes of what only texts are.
UUID_QUERIES = 16


@pytest.fixture
def compared(statement, run, pays):
    """A run that found one charge which the ledger does not know."""
    pays("ch_1")
    return run(statement(line("charge", "ch_1", 1900), line("charge", "ch_9", 5800)))


@pytest.fixture
def alert(compared):
    return Alert.objects.create(
        id=mint_id(NOW),
        kind="failed",
        channel="webhook",
        about="x",
        run=compared,
        payload={},
        written_at=NOW,
        next_attempt_at=NOW,
    )


@pytest.fixture
def hold(make_conversation, make_staff):
    officer = make_staff(RoleName.PRIVACY_OFFICER, name="petra")
    return place_hold(conversation_id=make_conversation().pk, matter="LIT-2026-004", user=officer, now=NOW)


@pytest.fixture
def erasure(realm, hold):
    return ErasureRequest.objects.create(
        id=mint_id(NOW),
        number="ER-2026-0117",
        realm=realm,
        origin="desk",
        state="intake",
        received_at=NOW,
        due_at=NOW + timedelta(days=30),
        taken_in_by=User.objects.get(username="petra"),
        pseudonym="erased-0123456789abcdef",
    )


@pytest.fixture
def imported(realm):
    """The run of an import at a terminal, which knows its file."""
    return JobRun.objects.create(
        id=mint_id(NOW),
        kind="conversations.import",
        requested_by_kind="importer",
        state="succeeded",
        is_foreground=True,
        parameters={"file": "talks.json", "realm_id": realm.pk},
        report={"sha256": DIGEST},
        queued_at=NOW,
        started_at=NOW,
        finished_at=NOW,
    )


@pytest.fixture
def question(talk, realm):
    return GuardQuestion.objects.create(
        id=mint_id(NOW),
        realm=realm,
        conversation_id=talk.pk,
        seq=2,
        call_id="toolu_1",
        tool_name="charge_card",
        request_digest=b"\0" * 32,
        reason="same_arguments",
        asked_at=NOW,
    )


def test_ids_of_runs_statements_and_alerts_lead_to_their_pages(log_in, compared, alert):
    document = compared.inputs.get().statement
    digest, report = bytes(document.sha256).hex(), bytes(compared.report_sha256).hex()
    of_run, of_file = f"/reconciliations/{compared.pk}/", f"/statements/{document.pk}/"
    support = log_in(RoleName.SUPPORT)

    assert (
        leads_to(support, str(compared.pk), f"run {compared.pk.hex}", report, f"sha256:{report}")
        == [of_run] * 4
    )
    assert leads_to(support, str(alert.pk)) == [of_run]
    assert leads_to(support, str(document.pk), document.name, digest.upper()) == [of_file] * 3
    assert leads_to(support, f"sha256:{digest}", f"{digest}  export.csv") == [of_file] * 2


def test_a_file_is_found_by_its_name_even_with_spaces(log_in, statement):
    document = statement(line("charge", "ch_9", 5800), name="march payouts (2).csv")

    assert leads_to(log_in(), "march payouts (2).csv") == [f"/statements/{document.pk}/"]


def test_what_only_the_processor_knows_is_found_where_it_was_seen(log_in, compared):
    document, finding = compared.inputs.get().statement, Finding.objects.get(reference="ch_9")
    number = StatementLine.objects.get(reference="ch_9").number
    support = log_in()

    places = find(support, "ch_9").context["exact"].places

    assert [(place.kind, place.url) for place in places] == [
        ("Finding", f"/findings/{finding.pk}/"),
        ("Statement line", f"/statements/{document.pk}/?line={number}#line"),
    ]
    page = support.get(places[1].url).content.decode()
    assert f"Line {number}, which was searched for" in page
    assert "ch_9" in page
    # An effect's own page tells of its lines and findings.
    (known,) = leads_to(support, "ch_1")
    assert known.startswith("/effects/")


def test_lines_are_for_who_sees_every_realm_because_realms_may_share_an_account(log_in, compared, realm):
    document = compared.inputs.get().statement
    number = StatementLine.objects.get(reference="ch_9").number
    narrow = log_in(realms=[realm], name="narrow")

    (place,) = leads_to(narrow, "ch_9")

    assert place.startswith("/findings/")
    page = narrow.get(f"/statements/{document.pk}/", {"line": number})
    assert b"which was searched for" not in page.content


@pytest.mark.parametrize("given", ["x", "99999999999999", "-1", "٣", "", "0"])
def test_a_line_that_is_none_shows_the_statement(log_in, compared, given):
    answer = log_in().get(f"/statements/{compared.inputs.get().statement_id}/", {"line": given})

    assert answer.status_code == 200
    assert b"which was searched for" not in answer.content


def test_an_event_that_nothing_knows_is_for_who_sees_every_realm(log_in, realm):
    WebhookEvent.objects.create(
        id=mint_id(NOW),
        processor="stripe",
        event_id="evt_nobody",
        type="charge.succeeded",
        occurred_at=NOW,
        received_at=NOW,
    )
    (url,) = leads_to(client := log_in(), "evt_nobody")

    assert url == "/events/?event_id=evt_nobody"
    page = client.get(url).content.decode()
    assert "evt_nobody" in page
    assert "Lift all filters" in page
    assert leads_to(log_in(realms=[realm], name="narrow"), "evt_nobody") == ["0 places"]


def test_a_question_leads_to_the_call_that_it_is_about(log_in, question, talk):
    assert leads_to(log_in(), str(question.pk)) == [f"/conversations/{talk.pk}/?m=2#m2"]


def test_ids_of_privacy_lead_to_their_pages(log_in, hold, erasure):
    officer = log_in(RoleName.PRIVACY_OFFICER)
    of_hold, of_request = f"/retention/holds/{hold.pk}/", f"/retention/erasures/{erasure.pk}/"

    assert leads_to(officer, str(hold.pk), "LIT-2026-004") == [of_hold] * 2
    assert (
        leads_to(officer, str(erasure.pk), "ER-2026-0117", "re er-2026-0117, due soon", erasure.pseudonym)
        == [of_request] * 4
    )


def test_ids_of_jobs_lead_to_their_run(log_in, imported):
    auditor = log_in(RoleName.AUDITOR)

    assert leads_to(auditor, str(imported.pk), DIGEST) == [f"/jobs/runs/{imported.pk}/"] * 2


def test_what_a_role_does_not_open_it_does_not_find(log_in, hold, erasure, imported):
    support = log_in(RoleName.SUPPORT)

    for pasted in (hold.pk, "LIT-2026-004", erasure.pk, "ER-2026-0117", imported.pk, DIGEST):
        page = find(support, str(pasted))
        assert page.context["exact"].is_empty
        text = page.content.decode()
        assert "Nothing found" in text
        assert "your role or your realms do not open them" in text


def test_ids_of_another_realm_answer_as_if_there_were_none(
    log_in, compared, alert, hold, erasure, imported, question
):
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    document = compared.inputs.get().statement
    hidden = [compared.pk, alert.pk, hold.pk, erasure.pk, question.pk, document.pk, document.name, "ch_9"]
    hidden += ["LIT-2026-004", "ER-2026-0117", DIGEST, bytes(document.sha256).hex(), erasure.pseudonym]

    for role in (RoleName.PRIVACY_OFFICER, RoleName.AUDITOR):
        stranger = log_in(role, realms=[elsewhere], name=f"far {role}")
        for text in map(str, hidden):
            exact = find(stranger, text).context["exact"]
            assert exact.is_empty, text
            assert exact.shouted == []


def test_the_beginning_of_an_id_of_a_desk_finds_it(log_in, compared, hold, erasure):
    officer = log_in(RoleName.PRIVACY_OFFICER)
    document = compared.inputs.get().statement

    def begin_so(text: str) -> list[tuple[str, str]]:
        return [(place.kind, place.ident) for place in find(officer, text).context["exact"].prefixed]

    assert ("Reconciliation run", str(compared.pk)) in begin_so(str(compared.pk)[:23])
    assert ("Erasure request", str(erasure.pk)) in begin_so(erasure.pk.hex[:20])
    assert begin_so("LIT-2026") == [("Legal hold", "LIT-2026-004")]
    digest = bytes(document.sha256).hex()
    assert ("Statement", digest) in begin_so(digest[:11])
    # As a narrow column shows it, beginning and end.
    assert begin_so(f"sha256:{digest[:3]}…{digest[-6:]}") == [("Statement", digest)]
    assert begin_so(f"sha256:{digest[:3]}…000000") == []
    assert begin_so(digest[:3]) == []
    assert begin_so(f"{str(hold.pk)[:10]}…{hold.pk.hex[-6:]}") == [("Legal hold", str(hold.pk))]


def test_all_kinds_of_an_id_are_asked_in_one_statement(log_in, compared, django_assert_num_queries):
    auditor = log_in(RoleName.AUDITOR)
    find(auditor, str(compared.pk))

    with django_assert_num_queries(UUID_QUERIES) as captured:
        find(auditor, str(compared.pk))

    assert len([query for query in captured if "jobs_jobrun" in query["sql"]]) == 1
