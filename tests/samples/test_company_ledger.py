from datetime import UTC, datetime

from django.db.models import Count
from django.test import TestCase

from ledger.models import Compensation, Dispute, GuardQuestion, ToolEffect, WebhookEvent
from ledger.querysets import abandoned, not_paid_back, standings, totals
from ledger.vocabulary import Standing
from samples.company import processor_ids as ids
from samples.company.ledger import load_ledger
from samples.company.load import load_company

TODAY = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


def of(charge):
    return ToolEffect.objects.get(external_ref=charge)


class TestLedgerOfTheCompany(TestCase):
    """Loaded once for all of these: the company takes a while to tell."""

    @classmethod
    def setUpTestData(cls):
        load_company(today=TODAY, crowd_size=12)
        cls.ledger = load_ledger(today=TODAY)

    def test_every_told_charge_stands_in_the_ledger_as_the_story_tells_it(self):
        told = {
            ids.INES_FIRST_CHARGE: ("applied", 18000, "eur"),
            ids.INES_SECOND_CHARGE: ("applied", 13500, "eur"),
            ids.AMELIE_FIRST_CHARGE: ("applied", 41200, "eur"),
            ids.AMELIE_SECOND_CHARGE: ("applied", 39800, "eur"),
            ids.LI_CHARGE: ("applied", 4400, "gbp"),
            ids.TAKUMI_FIRST_CHARGE: ("applied", 14200, "jpy"),
            ids.TAKUMI_SECOND_CHARGE: ("applied", 14200, "jpy"),
            ids.NOOR_CHARGE: ("applied", 31500, "kwd"),
            ids.DANA_CHARGE: ("applied", 7699, "usd"),
            ids.JONAS_CHARGE: ("applied", 20000, "usd"),
        }

        found = {
            effect.external_ref: (effect.state, effect.amount_settled_minor, effect.currency)
            for effect in ToolEffect.objects.filter(external_ref__in=told)
        }

        assert found == told

    def test_what_edits_left_behind_is_abandoned(self):
        left = set(abandoned().values_list("external_ref", flat=True))

        assert {ids.INES_FIRST_CHARGE, ids.AMELIE_FIRST_CHARGE, ids.TAKUMI_FIRST_CHARGE} <= left
        live = of(ids.INES_SECOND_CHARGE)
        assert standings([live]) == {live.pk: Standing.LIVE}

    def test_an_unknown_outcome_stays_open_and_can_be_asked_for(self):
        fare = ToolEffect.objects.get(references__reference=ids.INES_FARE_INTENT)

        assert (fare.state, fare.sent_at is not None, fare.amount_minor, fare.currency) == (
            "pending",
            True,
            6200,
            "eur",
        )
        assert ToolEffect.objects.get(references__reference=ids.KOFI_INTENT).state == "pending"

    def test_the_declined_card_failed_and_the_other_one_paid(self):
        states = ToolEffect.objects.filter(conversation_id=of(ids.LI_CHARGE).conversation_id)

        assert sorted(states.values_list("state", flat=True)) == ["applied", "failed"]

    def test_the_refund_that_failed_leaves_the_customer_not_paid_back(self):
        [lost] = not_paid_back()

        assert (lost.external_ref, lost.effect, lost.failure_code) == (
            ids.DANA_REFUND,
            of(ids.DANA_CHARGE),
            "expired_or_canceled_card",
        )
        made_by_tool = ToolEffect.objects.get(external_ref=ids.DANA_REFUND)
        assert (made_by_tool.operation, made_by_tool.state) == ("refund", "compensated")

    def test_the_dispute_is_open_and_holds_its_conversation(self):
        charge = of(ids.JONAS_CHARGE)

        [dispute] = Dispute.objects.filter(effect=charge, closed_at=None)
        assert (dispute.external_ref, Dispute.objects.count()) == (ids.JONAS_DISPUTE, 1)

    def test_a_refund_waits_for_a_decision_and_a_part_was_given_back(self):
        waiting = Compensation.objects.get(state="requested")

        assert (waiting.effect, waiting.amount_minor, waiting.currency) == (
            of(ids.TAKUMI_SECOND_CHARGE),
            14200,
            "jpy",
        )
        assert of(ids.AMELIE_FIRST_CHARGE).amount_compensated_minor == 10000

    def test_totals_stand_by_currency(self):
        told = ToolEffect.objects.filter(external_ref__in=[ids.NOOR_CHARGE, ids.TAKUMI_FIRST_CHARGE])

        assert [(each.currency, each.settled_minor) for each in totals(told)] == [
            ("jpy", 14200),
            ("kwd", 31500),
        ]

    def test_nothing_is_in_trouble_and_nothing_is_asked(self):
        assert not WebhookEvent.objects.exclude(trouble="").exists()
        assert not GuardQuestion.objects.filter(is_allowed=None).exists()
        doubled = ToolEffect.objects.values("external_ref").annotate(number=Count("pk")).filter(number__gt=1)
        assert list(doubled.exclude(external_ref="")) == []
        assert self.ledger.effects == ToolEffect.objects.count()
