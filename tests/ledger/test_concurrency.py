"""Several at once, on the real database: each thread has a connection of its own."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from conversations.errors import ConflictError
from ledger.models import Compensation, ToolEffect, ToolPolicyChange, WebhookEvent
from ledger.services.compensating import approve_compensation, request_compensation
from ledger.services.events import take_in_event, work_event
from ledger.services.refunding import send_refund
from ledger.services.sending import mark_sent
from ledger.services.settling import settle_effect
from ledger.vocabulary import CompensationReason
from tests.ledger.conftest import AGENT, LATER, NOW, SWEEPER
from tests.ledger.seen import charged
from tests.ledger.stripe_events import charge, event, refund

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*acts):
    """Run the functions in threads that start together; return what each gave or raised."""
    barrier = Barrier(len(acts))

    def run(act):
        try:
            barrier.wait(10)
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        futures = [pool.submit(run, act) for act in acts]
    return [future.exception() or future.result() for future in futures]


def test_32_beginners_of_one_call_are_one_effect(talk, charge_card):
    talk.says()
    seq = talk.calls("toolu_1")

    begun = at_once(*[lambda: talk.begins(seq, "toolu_1")] * 32)

    assert ToolEffect.objects.count() == 1
    assert {one.key for one in begun} == {ToolEffect.objects.get().idempotency_key}
    assert sorted(one.answer for one in begun) == ["proceed"] + ["resume"] * 31


def test_32_beginners_of_one_scope_are_one_effect(talk, register):
    register(key_scope="conversation")
    asked = talk.says()
    seqs = {number: talk.calls(f"toolu_{number}", below=asked) for number in range(32)}

    begun = at_once(*[lambda n=n: talk.begins(seqs[n], f"toolu_{n}") for n in seqs])

    assert ToolEffect.objects.count() == 1
    assert sorted(one.answer for one in begun) == ["ask"] * 31 + ["proceed"]


@pytest.mark.parametrize("scope", ["call", "conversation", "branch_root"])
def test_two_branches_at_once_are_one_proceed_and_one_ask(talk, register, scope):
    register(key_scope=scope)
    asked = talk.says()
    first = talk.calls("toolu_1")
    talk.edits(asked)
    second = talk.calls("toolu_2")

    begun = at_once(lambda: talk.begins(first, "toolu_1"), lambda: talk.begins(second, "toolu_2"))

    assert sorted((one.answer, one.reason) for one in begun) == [
        ("ask", "earlier_unknown"),
        ("proceed", "first"),
    ]


def test_two_approvers_at_once_make_one_refund(
    talk, charge_card, request, staff, clock, stripe_settings, stripe_api
):
    talk.says()
    effect = request.getfixturevalue("charge")(talk, talk.calls("toolu_1"), "toolu_1").effect
    compensation = request_compensation(
        effect_id=effect.pk,
        amount_minor=1900,
        reason=CompensationReason.DUPLICATE,
        user=staff("ann"),
        now=clock(),
    )
    approvers = [staff("ben"), staff("cleo")]

    answers = at_once(
        *[
            lambda user=user: approve_compensation(compensation_id=compensation.pk, user=user, now=LATER)
            for user in approvers
        ]
    )
    words = at_once(*[lambda: send_refund(compensation_id=compensation.pk, actor=SWEEPER, now=LATER)] * 2)

    assert [type(answer) for answer in answers].count(ConflictError) == 1
    assert "settled" in words
    assert len(stripe_api.refunds.list().data) == 1
    assert Compensation.objects.get().state == "settled"


def test_requests_at_once_never_add_up_past_the_charge(bought, staff):
    mark_sent(effect_id=bought.pk, now=NOW)
    settle_effect(effect_id=bought.pk, seen=charged(), actor=AGENT, now=LATER)
    users = [staff(f"user-{number}") for number in range(8)]

    answers = at_once(
        *[
            lambda user=user: request_compensation(
                effect_id=bought.pk,
                amount_minor=600,
                reason=CompensationReason.ERROR,
                user=user,
                now=LATER,
            )
            for user in users
        ]
    )

    assert len([answer for answer in answers if isinstance(answer, ConflictError)]) == 5
    bought.refresh_from_db()
    assert (Compensation.objects.count(), bought.amount_reserved_minor) == (3, 1800)


def test_one_event_delivered_many_times_at_once_is_one_row(bought):
    body = event(
        "charge.succeeded", charge(metadata={"counterfoil_effect": str(bought.pk)}), event_id="evt_1"
    )

    taken = at_once(*[lambda: take_in_event(processor="stripe", body=body, now=LATER)] * 8)

    assert sorted(one.is_new for one in taken) == [False] * 7 + [True]
    assert WebhookEvent.objects.get().deliveries == 8


@pytest.mark.parametrize("round_", range(5))
def test_two_workers_on_a_charge_and_its_refund_end_alike(bought, round_):
    mark_sent(effect_id=bought.pk, now=NOW)
    carried = charge(metadata={"counterfoil_effect": str(bought.pk)})
    bodies = [
        event("charge.succeeded", carried, event_id="evt_c"),
        event("refund.created", refund(), event_id="evt_r"),
    ]

    def deliver(body):
        taken = take_in_event(processor="stripe", body=body, now=LATER)
        return work_event(event_id=taken.event.pk, now=LATER)

    answers = at_once(*[lambda body=body: deliver(body) for body in bodies * 2])

    assert not [answer for answer in answers if isinstance(answer, Exception)]
    bought.refresh_from_db()
    assert (bought.state, bought.amount_settled_minor, bought.amount_compensated_minor) == (
        "applied",
        5000,
        1200,
    )
    assert not WebhookEvent.objects.exclude(trouble="").exists()


def test_two_who_register_a_tool_at_once_are_a_registration_and_a_change(register):
    one, other = at_once(
        lambda: register("pay", key_scope="call"), lambda: register("pay", key_scope="conversation")
    )

    assert one.pk == other.pk
    changes = ToolPolicyChange.objects.order_by("id")
    assert [change.before is None for change in changes] == [True, False]
    assert changes[1].before == changes[0].after
