"""A run done again once conversations are gone: what it saw of their branches, it sees again."""

import pytest

from ledger.models import ToolEffect
from ledger.processors.protocol import Heard
from ledger.reconciliation.running import reconcile
from ledger.reconciliation.starting import repeat_reconciliation
from ledger.services.detaching import detach_effects
from ledger.services.sending import mark_sent, settle_by_refusal
from ledger.services.settling import settle_effect
from tests.conversations.conftest import NOW
from tests.ledger.conftest import Talk
from tests.ledger.reconciliation.conftest import CUT_OFF, DAY, FINANCE, found
from tests.ledger.reconciliation.test_branches import bought, move_head
from tests.ledger.seen import AGENT, charged

pytestmark = pytest.mark.django_db


@pytest.fixture
def again():
    def repeat(run, *, now=CUT_OFF + 9 * DAY):
        asked = repeat_reconciliation(run_id=run.pk, actor=FINANCE, now=now)
        reconcile(run_id=asked.job_id, clock=lambda: now)
        asked.refresh_from_db()
        return asked

    return repeat


def detach(talk, at=CUT_OFF + 2 * DAY):
    detach_effects(conversation_id=talk.id, now=at)


def test_an_abandoned_charge_that_was_live_again_when_it_was_let_go_is_found_again(run, pays, talk, again):
    asked = talk.says()
    left = bought(pays, talk, "ch_1", below=asked)
    talk.edits(asked)
    first = run()
    move_head(talk, left.call_seq, at=CUT_OFF + DAY)
    detach(talk)

    repeated = again(first)

    assert ToolEffect.objects.get(pk=left.pk).detached_standing == "live"
    assert found(first) == [("abandoned", "ch_1", 1900)]
    assert repeated.report == first.report


def test_a_charge_that_was_abandoned_after_the_cut_off_is_not_found_when_it_is_let_go(run, pays, talk, again):
    asked = talk.says()
    bought(pays, talk, "ch_1", below=asked)
    first = run()
    talk.edits(asked)
    move_head(talk, asked, at=CUT_OFF + DAY)
    detach(talk)

    repeated = again(first)

    assert ToolEffect.objects.get().detached_standing == "abandoned"
    assert found(first) == []
    assert repeated.report == first.report


def test_charges_of_two_branches_are_found_again_once_their_conversation_is_gone(
    run, pays, make_conversation, again
):
    for number in (1, 3):
        talk = Talk(make_conversation())
        asked = talk.says()
        bought(pays, talk, f"ch_{number}", below=asked)
        bought(pays, talk, f"ch_{number + 1}", below=talk.edits(asked), amount=2500)
    first = run()
    detach(talk)

    repeated = again(first)

    assert ("duplicate", "ch_4", 2500) in found(first)
    assert repeated.report == first.report


def test_what_an_answer_told_later_is_not_in_a_run_that_is_done_again(run, talk, register, again):
    """The currency of a call that names none, and the id beside which the processor contradicted."""
    register("subscribe", amount_path="", currency_path="")
    talk.says()
    effect = talk.begins(talk.calls("toolu_1", name="subscribe", arguments="{}"), "toolu_1").effect
    mark_sent(effect_id=effect.pk, now=NOW)
    heard = Heard(is_key_reused=True, reference="ch_0")
    settle_by_refusal(effect_id=effect.pk, heard=heard, actor=AGENT, now=NOW)
    first = run()
    assert [kind for kind, _, _ in found(first)] == ["contradiction", "stale_pending"]
    settle_effect(effect_id=effect.pk, seen=charged("ch_1"), actor=AGENT, now=CUT_OFF + DAY)

    assert ToolEffect.objects.get().currency == "usd"
    assert again(first).report == first.report


def test_what_was_let_go_before_the_first_run_stands_as_it_was_then(run, pays, talk, again):
    asked = talk.says()
    bought(pays, talk, "ch_1", below=asked)
    talk.edits(asked)
    detach(talk, at=NOW)
    first = run()

    assert found(first) == [("abandoned", "ch_1", 1900)]
    assert again(first).report == first.report
