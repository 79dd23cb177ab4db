"""What people do with findings: once, with a reason, and each step a line of the history."""

import pytest
from django.db import DatabaseError, transaction

from conversations.errors import ConflictError, NotFoundError, StoreError
from ledger.models import Finding, FindingComment, FindingEvent, MatchDecision
from ledger.reconciliation.desk import (
    ask_for_refund,
    assign_findings,
    comment_on_finding,
    decide_on_match,
    reopen_finding,
    resolve_findings,
)
from ledger.reconciliation.querysets import ageing, shares
from ledger.reconciliation.vocabulary import Resolution
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.schema.rows import name_of
from tests.ledger.reconciliation.conftest import CUT_OFF, DAY, found, line

pytestmark = pytest.mark.django_db
AFTER = CUT_OFF + DAY


@pytest.fixture
def user(staff):
    return staff("tomasz")


@pytest.fixture
def findings(statement, run):
    run(statement(line("charge", "ch_8", 100), line("charge", "ch_9", 200, currency="eur")))
    return list(Finding.objects.order_by("id"))


def history(finding: Finding) -> list[tuple[str, str]]:
    return list(finding.events.order_by("id").values_list("action", "actor_kind"))


def test_findings_are_assigned_together_and_those_already_there_are_left(findings, user):
    first, second = findings
    assign_findings(ids=[first.pk], to=user, user=user, now=AFTER)

    changed = assign_findings(ids=[first.pk, second.pk], to=user, user=user, now=AFTER)

    assert changed == [second]
    assert {finding.assigned_to for finding in Finding.objects.all()} == {user}
    assert history(first) == [("opened", "job"), ("assigned", "staff")]


def test_a_resolution_needs_a_reason_and_keeps_it_apart(findings, user):
    ids = [finding.pk for finding in findings]
    with pytest.raises(StoreError, match="why"):
        resolve_findings(ids=ids, resolution=Resolution.ACCEPTED, reason=" ", user=user, now=AFTER)
    assert Finding.objects.filter(state="open").count() == 2

    resolve_findings(ids=ids, resolution=Resolution.ACCEPTED, reason="test charges", user=user, now=AFTER)

    assert Finding.objects.filter(state="open").count() == 0
    assert set(FindingComment.objects.values_list("text", "event__action")) == {("test charges", "resolved")}


def test_what_is_resolved_is_not_resolved_again(findings, user):
    for _ in range(2):
        resolve_findings(
            ids=[findings[0].pk], resolution=Resolution.OTHER, reason="because", user=user, now=AFTER
        )

    assert findings[0].events.filter(action="resolved").count() == 1


def test_a_resolution_is_taken_back_with_a_reason(findings, user):
    pk = findings[0].pk
    with pytest.raises(ConflictError):
        reopen_finding(finding_id=pk, reason="wrong", user=user, now=AFTER)
    resolve_findings(ids=[pk], resolution=Resolution.OTHER, reason="because", user=user, now=AFTER)

    finding = reopen_finding(finding_id=pk, reason="it was another charge", user=user, now=AFTER)

    assert (finding.state, finding.resolution, finding.reopened) == ("open", "", 1)


def test_one_finding_that_does_not_exist_leaves_all_as_they_are(findings, user):
    with pytest.raises(NotFoundError):
        assign_findings(ids=[findings[0].pk, 10**9], to=user, user=user, now=AFTER)

    assert FindingEvent.objects.filter(action="assigned").count() == 0


def test_a_comment_is_words_beside_a_line_without_any(findings, user):
    comment = comment_on_finding(finding_id=findings[0].pk, text=" asked the bank ", user=user, now=AFTER)

    assert (comment.text, comment.event.action) == ("asked the bank", "commented")


def test_a_refund_is_asked_for_what_is_left_and_the_finding_leads_to_it(run, pays, talk, user):
    from conversations.services.heads import switch_head

    asked = talk.says()
    effect = pays("ch_1", talk=talk, below=asked)
    switch_head(conversation_id=talk.id, seq=asked, actor=CUSTOMER, now=NOW)
    run()
    finding = Finding.objects.get()

    compensation = ask_for_refund(finding_id=finding.pk, user=user, now=AFTER)

    finding.refresh_from_db()
    assert (compensation.effect_id, compensation.amount_minor, compensation.reason) == (
        effect.pk,
        1900,
        "abandoned",
    )
    assert (finding.state, finding.compensation_asked) == ("open", compensation)
    with pytest.raises(StoreError):
        ask_for_refund(finding_id=finding.pk, user=user, now=AFTER)


def test_a_suggested_match_is_confirmed_by_a_person_and_settles_the_effect(statement, run, begins, user):
    effect = begins()
    document = statement(line("charge", "ch_9", 1900))
    assert found(run(document)) == [("missing_in_ledger", "ch_9", 1900)]
    finding = Finding.objects.get()
    assert finding.effect_id == effect.pk

    decide_on_match(finding_id=finding.pk, is_confirmed=True, user=user, now=AFTER)

    effect.refresh_from_db()
    assert (effect.state, effect.external_ref) == ("applied", "ch_9")
    assert effect.moves.get(number=2).source == "statement"
    assert found(run(document, cut_off=AFTER)) == []


def test_a_suggestion_that_was_refused_leaves_two_findings(statement, run, begins, user):
    begins()
    document = statement(line("charge", "ch_9", 1900))
    run(document)

    decide_on_match(finding_id=Finding.objects.get().pk, is_confirmed=False, user=user, now=AFTER)

    assert found(run(document, cut_off=AFTER)) == [
        ("missing_in_ledger", "ch_9", 1900),
        ("stale_pending", "", 1900),
    ]
    assert MatchDecision.objects.get().is_confirmed is False


@pytest.mark.parametrize("wrong", [{"amount": 1901}, {"currency": "eur"}])
def test_another_amount_or_currency_is_no_suggestion(statement, run, begins, wrong):
    begins(**wrong)

    run(statement(line("charge", "ch_9", 1900)))

    assert Finding.objects.get(kind="missing_in_ledger").effect_id is None


def test_nothing_suggested_is_nothing_to_confirm(findings, user):
    with pytest.raises(ConflictError):
        decide_on_match(finding_id=findings[0].pk, is_confirmed=True, user=user, now=AFTER)


def test_the_desk_sums_up_by_due_time_and_currency_and_counts_by_owner(findings, user):
    first, second = findings
    Finding.objects.filter(pk=first.pk).update(due_at=AFTER - DAY)
    assign_findings(ids=[second.pk], to=user, user=user, now=AFTER)

    bands = ageing(Finding.objects.all(), now=AFTER)

    assert [(band.name, band.number, band.amounts) for band in bands] == [
        ("late", 1, {first.currency: first.amount_minor}),
        ("soon", 0, {}),
        ("later", 1, {second.currency: second.amount_minor}),
    ]
    owners = shares(Finding.objects.all(), user_id=user.pk, now=AFTER)
    assert [(share.name, share.number, share.late) for share in owners] == [
        ("nobody", 1, 1),
        ("mine", 1, 0),
        ("others", 0, 0),
    ]


@pytest.mark.schema
def test_the_history_is_only_appended(findings):
    with pytest.raises(DatabaseError) as refused, transaction.atomic():
        FindingEvent.objects.all().update(action="closed")

    assert "permission denied" in str(refused.value) or name_of(refused.value) == "ledger_append_only"
