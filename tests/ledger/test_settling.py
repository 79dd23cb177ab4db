from datetime import timedelta

import pytest
from django.db import transaction

from conversations.errors import StoreError
from ledger.errors import InsideTransactionError, KeyExpiredError, NotSendableError
from ledger.models import Contradiction, EffectReference, ToolEffect
from ledger.services.sending import mark_sent, settle_by_report
from ledger.services.settling import settle_absent, settle_effect
from ledger.vocabulary import EffectState
from tests.ledger.conftest import AGENT, LATER, NOW, SWEEPER
from tests.ledger.seen import charged, declined

pytestmark = pytest.mark.django_db


def moves(effect):
    return [
        (move.from_state, move.to_state, move.source, move.evidence_ref)
        for move in effect.moves.order_by("number")
    ]


def settle(effect, seen):
    return settle_effect(effect_id=effect.pk, seen=seen, actor=AGENT, now=LATER)


def test_a_charge_settles_with_its_evidence_amount_and_references(bought):
    mark_sent(effect_id=bought.pk, now=NOW)

    assert settle(bought, charged()).has_moved

    bought.refresh_from_db()
    assert (bought.state, bought.external_ref, bought.amount_settled_minor) == ("applied", "ch_1", 1900)
    assert moves(bought) == [("", "pending", "begin", ""), ("pending", "applied", "answer", "ch_1")]
    assert set(EffectReference.objects.values_list("kind", "reference")) == {
        ("charge", "ch_1"),
        ("intent", "pi_1"),
    }


def test_the_same_evidence_again_changes_nothing(bought):
    mark_sent(effect_id=bought.pk, now=NOW)
    settle(bought, charged())

    again = settle(bought, charged())

    assert not again.has_moved
    assert (len(moves(bought)), EffectReference.objects.count(), Contradiction.objects.count()) == (2, 2, 0)


def test_a_declined_charge_that_succeeds_later_is_applied(bought):
    mark_sent(effect_id=bought.pk, now=NOW)
    settle(bought, declined())

    settle(bought, charged())

    bought.refresh_from_db()
    assert [move[1] for move in moves(bought)] == ["pending", "failed", "applied"]
    assert bought.external_ref == "ch_1"


def test_the_word_of_an_earlier_attempt_does_not_undo_the_success(bought):
    mark_sent(effect_id=bought.pk, now=NOW)
    settle(bought, charged())

    settle(bought, declined(occurred_at=NOW - timedelta(seconds=30)))

    bought.refresh_from_db()
    assert bought.state == "applied"
    assert Contradiction.objects.count() == 0


def test_a_second_charge_of_one_key_is_a_contradiction_that_names_it(bought):
    mark_sent(effect_id=bought.pk, now=NOW)
    settle(bought, charged("ch_1", intent="pi_1"))

    settle(bought, charged("ch_2", intent="pi_2"))

    bought.refresh_from_db()
    assert (bought.external_ref, bought.amount_settled_minor) == ("ch_1", 1900)
    assert list(Contradiction.objects.values_list("kind", "reference", "amount_minor")) == [
        ("second_charge", "ch_2", 1900)
    ]


def test_a_failure_of_what_had_succeeded_is_a_contradiction(bought):
    mark_sent(effect_id=bought.pk, now=NOW)
    settle(bought, charged())

    settle(bought, declined("ch_1"))

    bought.refresh_from_db()
    assert bought.state == "applied"
    assert Contradiction.objects.get().kind == "failed_after_applied"


def test_another_currency_settles_without_an_amount_and_is_a_contradiction(bought):
    mark_sent(effect_id=bought.pk, now=NOW)

    settle(bought, charged(currency="eur"))

    bought.refresh_from_db()
    assert (bought.state, bought.currency, bought.amount_settled_minor) == ("applied", "usd", None)
    assert Contradiction.objects.get().kind == "other_currency"


def test_an_outcome_of_what_was_never_marked_as_sent_is_taken_and_noted(bought):
    settle(bought, charged())

    bought.refresh_from_db()
    assert bought.state == "applied"
    assert Contradiction.objects.get().kind == "sent_unmarked"


def test_a_pending_word_adds_references_and_moves_nothing(bought):
    mark_sent(effect_id=bought.pk, now=NOW)

    settle(bought, charged(outcome=EffectState.PENDING, status="processing"))

    bought.refresh_from_db()
    assert (bought.state, bought.references.count()) == ("pending", 2)


def test_absence_fails_an_open_effect_and_a_late_charge_applies_it(bought):
    mark_sent(effect_id=bought.pk, now=NOW)

    assert settle_absent(effect_id=bought.pk, sent_at=NOW, actor=SWEEPER, now=LATER)
    settle(bought, charged())

    assert moves(bought)[1:] == [("pending", "failed", "absent", ""), ("failed", "applied", "answer", "ch_1")]


def test_absence_does_not_touch_what_is_settled(bought):
    settle(bought, charged())

    assert not settle_absent(effect_id=bought.pk, sent_at=None, actor=SWEEPER, now=LATER)

    bought.refresh_from_db()
    assert bought.state == "applied"


def test_absence_proves_nothing_of_a_request_that_left_since_the_list_was_asked_for(bought):
    mark_sent(effect_id=bought.pk, now=NOW)

    assert not settle_absent(effect_id=bought.pk, sent_at=None, actor=SWEEPER, now=LATER)

    bought.refresh_from_db()
    assert (bought.state, len(moves(bought))) == ("pending", 1)


def test_nothing_is_marked_as_sent_inside_a_transaction(bought):
    with pytest.raises(InsideTransactionError), transaction.atomic():
        mark_sent(effect_id=bought.pk, now=NOW)

    bought.refresh_from_db()
    assert bought.sent_at is None


def test_the_first_sending_counts(bought):
    mark_sent(effect_id=bought.pk, now=NOW)
    mark_sent(effect_id=bought.pk, now=LATER)

    bought.refresh_from_db()
    assert bought.sent_at == NOW


def test_a_key_that_may_be_forgotten_is_never_sent_again(bought):
    mark_sent(effect_id=bought.pk, now=NOW)

    with pytest.raises(KeyExpiredError):
        mark_sent(effect_id=bought.pk, now=NOW + timedelta(hours=24))


def test_what_is_settled_is_not_sent_again(bought):
    settle(bought, charged())

    with pytest.raises(NotSendableError):
        mark_sent(effect_id=bought.pk, now=LATER)


def test_a_report_names_the_processors_own_object(talk, register):
    register("send_fax", processor="faxes", operation="other")
    talk.says()
    sent = talk.begins(talk.calls("toolu_1", name="send_fax"), "toolu_1").effect
    mark_sent(effect_id=sent.pk, now=NOW)

    settle_by_report(
        effect_id=sent.pk, outcome=EffectState.APPLIED, reference="fax-7", actor=AGENT, now=LATER
    )

    effect = ToolEffect.objects.get()
    assert (effect.state, effect.external_ref, effect.amount_settled_minor) == ("applied", "fax-7", 1900)


def test_a_report_does_not_stand_in_for_an_answer_that_can_be_read(bought):
    mark_sent(effect_id=bought.pk, now=NOW)

    with pytest.raises(StoreError, match="own answer"):
        settle_by_report(
            effect_id=bought.pk, outcome=EffectState.FAILED, reference="timed-out", actor=AGENT, now=LATER
        )

    assert moves(bought) == [("", "pending", "begin", "")]
