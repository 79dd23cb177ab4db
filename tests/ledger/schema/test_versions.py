"""What was known of refunds and disputes, and since when: the database keeps it by itself."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.contrib.auth.models import User

from tests.conversations.conftest import NOW
from tests.conversations.schema.rows import PRIVILEGE, execute, fetch
from tests.ledger.schema.rows import insert, refused

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True)]

FIRST = UUID("019cd2e8-8620-745a-943e-d7568a45ad71")
LATER = NOW + timedelta(hours=1)


@pytest.fixture
def asked(applied) -> UUID:
    insert("compensation", id=FIRST, effect_id=applied, requested_by_id=User.objects.create_user("ann").pk)
    return FIRST


@pytest.fixture
def disputed(applied) -> UUID:
    insert("dispute", id=FIRST, effect_id=applied)
    return FIRST


def versions(table: str, *columns: str) -> list[tuple]:
    return fetch(f"SELECT number, known_at, {', '.join(columns)} FROM ledger_{table}version ORDER BY number")


def test_each_state_of_a_refund_is_kept_with_when_it_was_known(asked):
    decided_by = User.objects.create_user("ben").pk
    execute(
        "UPDATE ledger_compensation SET state = %s, decided_by_id = %s, decided_at = %s, known_at = %s",
        *("approved", decided_by, LATER, LATER),
    )

    assert versions("compensation", "state", "external_ref", "settled_at") == [
        (1, NOW, "requested", "", None),
        (2, LATER, "approved", "", None),
    ]


def test_what_changes_nothing_that_is_known_makes_no_version(asked):
    execute("UPDATE ledger_compensation SET looked_at = %s", LATER)

    assert versions("compensation", "state") == [(1, NOW, "requested")]


def test_each_state_of_a_dispute_is_kept_with_when_it_was_known(disputed):
    execute("UPDATE ledger_dispute SET status = %s, closed_at = %s, known_at = %s", "won", NOW, LATER)
    execute("UPDATE ledger_dispute SET seen_at = %s", LATER)

    assert versions("dispute", "status", "amount_minor", "closed_at") == [
        (1, NOW, "needs_response", 1900, None),
        (2, LATER, "won", 1900, NOW),
    ]


def test_nothing_is_known_since_before_it_was_known(asked):
    with refused("ledger_known_ascends"):
        execute("UPDATE ledger_compensation SET known_at = %s", NOW - timedelta(seconds=1))


@pytest.mark.parametrize(
    "change",
    [
        (
            "INSERT INTO ledger_compensationversion (compensation_id, number, known_at, state, external_ref)"
            " SELECT id, 2, known_at, 'settled', 're_1' FROM ledger_compensation"
        ),
        "UPDATE ledger_compensationversion SET known_at = now()",
        "DELETE FROM ledger_compensationversion",
        "TRUNCATE ledger_compensationversion",
    ],
)
def test_the_application_cannot_touch_what_was_known(asked, change):
    with refused(PRIVILEGE):
        execute(change)


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
@pytest.mark.parametrize("change", ["UPDATE {} SET known_at = now()", "DELETE FROM {}"])
def test_even_the_owner_cannot_change_what_was_known(asked, change):
    with refused("ledger_append_only", using="owner"):
        execute(change.format("ledger_compensationversion"), using="owner")
