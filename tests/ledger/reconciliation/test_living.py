"""A finding across runs: new once, closed when gone, back when it is back, resolved until it changes."""

import pytest

from ledger.models import Finding
from ledger.reconciliation.desk import resolve_findings
from ledger.reconciliation.vocabulary import Resolution
from ledger.services.settling import settle_effect
from tests.conversations.conftest import NOW
from tests.ledger.reconciliation.conftest import CUT_OFF, DAY, line
from tests.ledger.seen import AGENT, charged

pytestmark = pytest.mark.django_db


def history(finding: Finding) -> list[str]:
    return list(finding.events.order_by("id").values_list("action", flat=True))


def test_a_second_run_finds_nothing_new(statement, run):
    document = statement(line("charge", "ch_9", 100))

    first, second = run(document), run(document)

    finding = Finding.objects.get()
    assert (finding.first_run, finding.last_run) == (first, second)
    assert [s.is_new for s in finding.sightings.order_by("id")] == [True, False]
    assert history(finding) == ["opened"]


def test_fixing_it_closes_it_and_its_return_reopens_it(statement, run, begins):
    effect = begins()
    run()
    finding = Finding.objects.get(kind="stale_pending")
    seen = charged("ch_1", effect_id=effect.pk)
    settle_effect(effect_id=effect.pk, seen=seen, actor=AGENT, now=CUT_OFF + DAY)

    run(cut_off=CUT_OFF + 2 * DAY)

    finding.refresh_from_db()
    assert (finding.state, history(finding)) == ("closed", ["opened", "closed"])


def test_a_finding_that_is_back_is_reopened(statement, run):
    run(statement(line("charge", "ch_9", 100)))
    run(statement(line("charge", "ch_8", 100, status="failed")), cut_off=CUT_OFF + DAY)
    finding = Finding.objects.get(reference="ch_9")
    assert finding.state == "closed"

    run(statement(line("charge", "ch_9", 100)), cut_off=CUT_OFF + 2 * DAY)

    finding.refresh_from_db()
    assert (finding.state, finding.reopened) == ("open", 1)
    assert history(finding) == ["opened", "closed", "reopened"]


def test_a_run_that_does_not_cover_a_finding_does_not_close_it(statement, run):
    run(statement(line("charge", "ch_9", 100)))
    late = statement(
        line("charge", "ch_8", 100, at=NOW + 2 * DAY, status="failed"),
        period_start=NOW + DAY,
        period_end=NOW + 3 * DAY,
    )

    run(late, cut_off=CUT_OFF + DAY)
    run(cut_off=CUT_OFF + DAY)

    assert Finding.objects.get().state == "open"


def test_an_earlier_cut_off_changes_nothing_that_a_later_one_has_judged(statement, run, begins):
    effect = begins()
    seen = charged("ch_1", effect_id=effect.pk)
    settle_effect(effect_id=effect.pk, seen=seen, actor=AGENT, now=CUT_OFF + DAY)
    run(now=CUT_OFF + 3 * DAY)
    run(cut_off=CUT_OFF + 2 * DAY)
    finding = Finding.objects.get()
    assert finding.state == "closed"

    run(now=CUT_OFF + 4 * DAY)

    finding.refresh_from_db()
    assert (finding.state, history(finding)) == ("closed", ["opened", "closed"])


@pytest.mark.parametrize(
    ("resolution", "state"), [(Resolution.ACCEPTED, "resolved"), (Resolution.CORRECTED, "open")]
)
def test_what_was_accepted_stays_settled_and_what_was_to_be_mended_does_not(
    statement, run, staff, resolution, state
):
    document = statement(line("charge", "ch_9", 100))
    run(document)
    finding = Finding.objects.get()
    user = staff("tomasz")
    resolve_findings(
        ids=[finding.pk], resolution=resolution, reason="see ticket", user=user, now=CUT_OFF + DAY
    )

    run(document, cut_off=CUT_OFF + 2 * DAY)

    finding.refresh_from_db()
    assert finding.state == state


def test_what_was_accepted_is_back_when_its_amount_changes(statement, run, staff, pays):
    pays("ch_1")
    run(statement(line("charge", "ch_1", 1935)))
    finding = Finding.objects.get()
    resolve_findings(
        ids=[finding.pk], resolution=Resolution.ACCEPTED, reason="rounding", user=staff("t"), now=CUT_OFF
    )

    run(statement(line("charge", "ch_1", 2500)), cut_off=CUT_OFF + DAY)

    finding.refresh_from_db()
    assert (finding.state, finding.amount_minor, finding.resolution) == ("open", 600, "")
