from uuid import UUID

import pytest
from django.contrib.auth.models import User

from tests.conversations.conftest import NOW
from tests.conversations.schema.rows import PRIVILEGE, execute, fetch
from tests.ledger.schema.rows import insert, refused

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True)]

FIRST = UUID("019cd2e8-8620-745a-943e-d7568a45ad71")
SECOND = UUID("019cd2e8-8620-745a-943e-d7568a45ad72")


@pytest.fixture
def ann(db) -> int:
    return User.objects.create_user("ann").pk


@pytest.fixture
def ben(db) -> int:
    return User.objects.create_user("ben").pk


@pytest.fixture
def asked(applied, ann) -> UUID:
    insert("compensation", id=FIRST, effect_id=applied, requested_by_id=ann)
    return FIRST


def decide(compensation: UUID, state: str, who: int) -> None:
    execute(
        "UPDATE ledger_compensation SET state = %s, decided_by_id = %s, decided_at = %s WHERE id = %s",
        state,
        who,
        NOW,
        compensation,
    )


def set_state(compensation: UUID, state: str) -> None:
    execute("UPDATE ledger_compensation SET state = %s WHERE id = %s", state, compensation)


def test_who_asked_cannot_decide(asked, ann):
    with refused("ledger_compensation_two_people"):
        decide(asked, "approved", ann)


def test_nothing_is_approved_by_nobody(asked):
    with refused("ledger_compensation_decided_before_sent"):
        set_state(asked, "approved")


@pytest.mark.parametrize("columns", [{"reason": ""}, {"idempotency_key": ""}, {"requested_by_id": None}])
def test_ours_is_asked_for_by_somebody_for_a_reason_under_a_key(applied, ann, columns):
    with refused("ledger_compensation_ours_is_asked_for"):
        insert("compensation", **{"id": FIRST, "effect_id": applied, "requested_by_id": ann, **columns})


def test_requests_never_add_up_past_what_was_settled(asked, applied, ann):
    with refused("ledger_compensation_within_the_settled"):
        insert(
            "compensation",
            id=SECOND,
            effect_id=applied,
            requested_by_id=ann,
            idempotency_key="c-2",
            amount_minor=901,
        )


def test_only_what_is_applied_can_be_given_back(effect, ann):
    with refused("ledger_compensation_within_the_settled"):
        insert("compensation", id=FIRST, effect_id=effect, requested_by_id=ann)


def test_what_the_processor_shows_is_never_refused(asked, applied):
    insert(
        "compensation",
        id=SECOND,
        effect_id=applied,
        origin="processor",
        state="settled",
        amount_minor=5000,
        reason="",
        idempotency_key="",
        external_ref="re_1",
        settled_at=NOW,
    )

    assert fetch("SELECT sum(amount_minor) FROM ledger_compensation") == [(6000,)]


def test_a_refund_is_in_the_currency_of_its_charge(applied, ann):
    with refused("ledger_compensation_in_the_effects_currency"):
        insert("compensation", id=FIRST, effect_id=applied, requested_by_id=ann, currency="eur")


@pytest.mark.parametrize("amount", [0, -1])
def test_a_refund_is_of_more_than_nothing(applied, ann, amount):
    with refused("ledger_compensation_amount_positive"):
        insert("compensation", id=FIRST, effect_id=applied, requested_by_id=ann, amount_minor=amount)


@pytest.mark.parametrize("state", ["approved", "sent", "failed", "rejected"])
def test_ours_begins_as_a_request(applied, ann, ben, state):
    with refused("ledger_compensation_begins_as_request"):
        insert(
            "compensation",
            id=FIRST,
            effect_id=applied,
            requested_by_id=ann,
            state=state,
            decided_by_id=ben,
            decided_at=NOW,
        )


def test_a_refund_is_settled_by_evidence_only(asked, ben):
    decide(asked, "approved", ben)
    set_state(asked, "sent")

    with refused("ledger_compensation_settled_by_evidence"):
        set_state(asked, "settled")


@pytest.mark.parametrize("state", ["sent", "settled", "failed"])
def test_a_request_goes_nowhere_before_it_is_decided(asked, ben, state):
    with refused("ledger_compensation_move_is_legal"):
        execute(
            "UPDATE ledger_compensation SET state = %s, decided_by_id = %s, decided_at = %s,"
            " external_ref = 're_1', settled_at = %s WHERE id = %s",
            state,
            ben,
            NOW,
            NOW,
            asked,
        )


@pytest.mark.parametrize("state", ["requested", "approved", "sent"])
def test_what_was_rejected_stays_rejected(asked, ben, state):
    decide(asked, "rejected", ben)

    with refused("ledger_compensation_move_is_legal"):
        set_state(asked, state)


@pytest.mark.parametrize("change", ["amount_minor = 1", "idempotency_key = 'c-9'", "reason = 'fraud'"])
def test_what_was_asked_for_does_not_change(asked, change):
    with refused("ledger_compensation_keeps_its_facts"):
        execute(f"UPDATE ledger_compensation SET {change} WHERE id = %s", asked)


def test_a_decision_does_not_change_hands(asked, ben, ann):
    decide(asked, "approved", ben)

    with refused("ledger_compensation_keeps_its_facts"):
        execute("UPDATE ledger_compensation SET decided_by_id = NULL, decided_at = NULL")


def test_a_compensation_is_never_deleted(asked):
    with refused(PRIVILEGE):
        execute("DELETE FROM ledger_compensation")


def test_one_refund_of_the_processor_is_one_row(applied):
    row = {
        "effect_id": applied,
        "origin": "processor",
        "state": "settled",
        "reason": "",
        "idempotency_key": "",
        "external_ref": "re_1",
        "settled_at": NOW,
    }
    insert("compensation", id=FIRST, **row)

    with refused("ledger_compensation_reference_once"):
        insert("compensation", id=SECOND, **row)
