import pytest
import stripe
from django.db import transaction

from ledger.errors import InsideTransactionError, NotSendableError
from ledger.models import Contradiction, ToolEffect
from ledger.wrapper import effect
from tests.ledger.conftest import AGENT

pytestmark = pytest.mark.django_db


@pytest.fixture
def seq(talk, charge_card):
    talk.says()
    return talk.calls("toolu_1")


def test_a_charge_leaves_with_key_and_effect_and_settles_by_its_answer(talk, seq, charge, stripe_api):
    sending = charge(talk, seq, "toolu_1")

    [intent] = stripe_api.payment_intents.list().data
    assert (sending.effect.state, sending.effect.external_ref) == ("applied", intent.latest_charge)
    assert intent.metadata["counterfoil_effect"] == str(sending.effect.pk)
    assert intent.metadata["counterfoil_key"] == sending.effect.idempotency_key
    assert sending.effect.moves.latest("number").raw is not None


def test_sent_at_is_committed_before_the_socket_opens(talk, seq, charge, processor):
    processor.ask_for("cut_before")

    with pytest.raises(stripe.APIConnectionError):
        charge(talk, seq, "toolu_1")

    begun = ToolEffect.objects.get()
    assert (begun.state, begun.sent_at is not None) == ("pending", True)


def test_it_refuses_to_run_inside_a_transaction(talk, seq, charge, stripe_api):
    with pytest.raises(InsideTransactionError), transaction.atomic():
        charge(talk, seq, "toolu_1")

    assert (ToolEffect.objects.count(), stripe_api.payment_intents.list().data) == (0, [])


def test_a_declined_card_settles_as_failed_and_is_raised_on(talk, seq, charge):
    with pytest.raises(stripe.CardError):
        charge(talk, seq, "toolu_1", payment_method="pm_card_chargeDeclined")

    failed = ToolEffect.objects.get()
    move = failed.moves.latest("number")
    assert (failed.state, move.source, move.evidence_ref[:3]) == ("failed", "answer", "ch_")


def test_refused_parameters_settle_as_failed_by_the_answers_own_id(talk, seq, charge, stripe_api):
    with pytest.raises(stripe.InvalidRequestError):
        charge(talk, seq, "toolu_1", customer="cus_nobody")

    move = ToolEffect.objects.get().moves.latest("number")
    assert (move.to_state, move.evidence_ref[:4], move.evidence_status) == (
        "failed",
        "req_",
        "resource_missing",
    )
    assert stripe_api.payment_intents.list().data == []


@pytest.mark.parametrize(
    ("fault", "options"),
    [
        ("answer_lost", {}),
        ("answer_cut", {}),
        ("error_500", {"executed": True}),
        ("conflict", {}),
        ("cut_before", {}),
    ],
)
def test_an_answer_that_says_nothing_leaves_the_effect_open(talk, seq, charge, processor, fault, options):
    processor.ask_for(fault, **options)

    with pytest.raises(stripe.StripeError):
        charge(talk, seq, "toolu_1")

    assert ToolEffect.objects.get().state == "pending"


def test_a_resume_after_a_lost_answer_charges_once(talk, seq, charge, processor, stripe_api):
    processor.ask_for("answer_lost")
    with pytest.raises(stripe.APIConnectionError):
        charge(talk, seq, "toolu_1")

    sending = charge(talk, seq, "toolu_1")

    assert (sending.begun.answer, sending.effect.state) == ("resume", "applied")
    assert len(stripe_api.charges.list().data) == 1


def test_a_key_with_other_parameters_leaves_the_effect_open_and_a_contradiction(talk, seq, charge, processor):
    processor.ask_for("answer_lost")
    with pytest.raises(stripe.APIConnectionError):
        charge(talk, seq, "toolu_1")

    with pytest.raises(stripe.IdempotencyError):
        charge(talk, seq, "toolu_1", description="another body")

    assert ToolEffect.objects.get().state == "pending"
    assert Contradiction.objects.get().kind == "key_reused"


def test_what_may_not_be_sent_has_no_key_to_send_it_with(talk, seq, charge, clock):
    charge(talk, seq, "toolu_1")

    with effect(conversation_id=talk.id, seq=seq, call_id="toolu_1", actor=AGENT, clock=clock) as sending:
        assert not sending.may_send
        assert sending.effect.state == "applied"
        for read in (lambda: sending.key, lambda: sending.options, lambda: sending.metadata):
            with pytest.raises(NotSendableError):
                read()
