"""What a processor sent or answered about an effect is evidence: it is held with what it proves."""

from datetime import timedelta

import pytest
from django.db import connections, transaction
from django.db.utils import OperationalError

from conversations.models import Account, RawBody
from conversations.services.raw_bodies import keep_raw_body
from conversations.vocabulary import RawClass
from ledger.models import ToolEffect
from ledger.services.detaching import detach_effects
from ledger.services.settling import settle_effect
from retention.erasure.steps import money
from retention.erasure.subject import read_subject
from retention.layers import load_layers
from retention.models import LegalHold
from retention.purging import raw_bodies
from retention.services.holds import place_hold
from retention.vocabulary import DataClass, PolicyAction
from tests.conversations.schema.rows import execute, fetch, refused
from tests.ledger.seen import AGENT, charged
from tests.retention.conftest import NOW, remaining
from tests.retention.desk import erased, request_for

pytestmark = pytest.mark.django_db

MUCH_LATER = NOW + timedelta(days=400)


@pytest.fixture
def answer(bought):
    """The processor's answer to the charge, kept as the evidence of its move."""
    raw_id = keep_raw_body(body=b'{"id": "ch_1"}', raw_class=RawClass.RESPONSE, now=NOW)
    settle_effect(effect_id=bought.pk, seen=charged("ch_1", raw_id=raw_id), actor=AGENT, now=NOW)
    return raw_id


@pytest.fixture
def of_nobody(bought):
    """A charge whose conversation is gone already; its account is there."""
    settle_effect(effect_id=bought.pk, seen=charged("ch_1"), actor=AGENT, now=NOW)
    detach_effects(conversation_id=bought.conversation_id, now=NOW)
    execute("DELETE FROM conversations_conversation")
    return bought


def test_the_purge_keeps_what_a_processor_answered_about_a_held_charge(
    answer, bought, officer, make_account, run_purge
):
    place_hold(conversation_id=bought.conversation_id, matter="M-7", user=officer, now=NOW)
    other = keep_raw_body(body=b"{}", raw_class=RawClass.RESPONSE, now=NOW)

    run_purge(now=MUCH_LATER)

    assert not RawBody.objects.filter(pk=other).exists()
    assert RawBody.objects.filter(pk=answer).exists()


def test_an_erasure_keeps_what_a_processor_answered_about_a_held_charge(answer, bought, officer, second):
    RawBody.objects.update(account_id=bought.account_id)
    place_hold(effect_id=bought.pk, matter="M-7", user=officer, now=NOW)

    request = erased(bought.account, officer=officer, second=second)

    assert request.steps.get(name="raw_bodies").kept == {"rawbody": 1}
    assert RawBody.objects.filter(pk=answer).exists()


def test_an_erasure_keeps_what_belongs_to_a_held_account(make_account, officer, second):
    held, free = make_account(), make_account()
    place_hold(account_id=held.pk, matter="M-7", user=officer, now=NOW)
    kept = keep_raw_body(body=b"{}", raw_class=RawClass.RESPONSE, now=NOW, account_id=held.pk)
    keep_raw_body(body=b"{}", raw_class=RawClass.RESPONSE, now=NOW, account_id=free.pk)

    request = erased(held, free, officer=officer, second=second)

    step = request.steps.get(name="raw_bodies")
    assert (step.erased, step.kept) == ({"rawbody": 1}, {"rawbody": 1})
    assert list(RawBody.objects.values_list("pk", flat=True)) == [kept]


@pytest.mark.schema
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM conversations_rawbody", "UPDATE ledger_tooleffect SET account_id = NULL"],
)
def test_statements_typed_by_hand_are_refused_though_the_conversation_is_gone(of_nobody, officer, statement):
    account_id = of_nobody.account_id
    keep_raw_body(body=b"{}", raw_class=RawClass.RESPONSE, now=NOW, account_id=account_id)
    place_hold(account_id=account_id, matter="M-7", user=officer, now=NOW)

    with refused("retention_held_stays"):
        execute(statement)


@pytest.mark.schema
@pytest.mark.django_db(transaction=True)
def test_an_answer_about_a_held_charge_is_not_deleted_by_hand(answer, bought, officer):
    place_hold(conversation_id=bought.conversation_id, matter="M-7", user=officer, now=NOW)

    with refused("retention_held_stays"):
        execute("DELETE FROM conversations_rawbody")


@pytest.mark.django_db(transaction=True)
def test_a_hold_on_the_account_waits_for_an_erasure_of_its_money(of_nobody, officer):
    """Both commit, one after the other: no charge loses its account after the hold is in force."""
    account = Account.objects.get(pk=of_nobody.account_id)
    request = request_for(account, user=officer)
    connections["default"].ensure_connection()
    other = connections["default"].copy()
    try:
        with transaction.atomic():
            money.run(read_subject(request=request, now=NOW, run_id=None), None)
            with other.cursor() as cursor:
                cursor.execute("SET lock_timeout = '200ms'")
                with pytest.raises(OperationalError, match="lock timeout"):
                    cursor.execute(
                        "SELECT id FROM conversations_account WHERE id = %s FOR NO KEY UPDATE", [account.pk]
                    )
    finally:
        other.close()

    assert ToolEffect.objects.get().account_id is None
    assert (LegalHold.objects.count(), remaining()) == (0, set())


def test_the_purge_finds_nobodys_raw_bodies_by_their_age():
    layers = load_layers(data_class=DataClass.RAW_BODIES, now=NOW)
    given = [*layers.arrays(PolicyAction.PURGE), *raw_bodies.FIRST, NOW, 30, 200]
    execute("SET LOCAL enable_seqscan = off")

    plan = "\n".join(row[0] for row in fetch(f"EXPLAIN {raw_bodies.NOBODYS}", *given))

    assert "rawbody_nobodys" in plan
    assert "Sort" not in plan
