from uuid import UUID

import pytest

from tests.conversations.conftest import NOW
from tests.ledger.schema.rows import insert, refused

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True)]

QUESTION = UUID("019cd2e8-8620-745a-943e-d7568a45ad81")


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        ({"effectful": "maybe"}, "ledger_tool_effectful_is_known"),
        ({"replay_policy": "twice"}, "ledger_tool_policy_is_known"),
        ({"key_scope": "day"}, "ledger_tool_key_scope_is_known"),
        ({"operation": "gift"}, "ledger_tool_operation_is_known"),
        ({"amount_unit": "cent"}, "ledger_tool_operation_is_known"),
        ({"effectful": "no"}, "ledger_tool_without_effect_is_replayable"),
    ],
)
def test_a_policy_outside_its_lists_is_refused(realm, columns, rule):
    with refused(rule):
        insert("toolpolicy", realm_id=realm.pk, **columns)


def test_a_tool_is_registered_once_in_a_realm(realm):
    insert("toolpolicy", realm_id=realm.pk)

    with refused("ledger_tool_once_per_realm"):
        insert("toolpolicy", realm_id=realm.pk)


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        ({"is_allowed": True}, "ledger_question_answered_by_somebody"),
        ({"answered_at": NOW}, "ledger_question_answered_by_somebody"),
        ({"used_at": NOW}, "ledger_question_used_if_allowed"),
    ],
)
def test_a_question_is_answered_as_a_whole_and_used_if_allowed(realm, called, columns, rule):
    row = {"id": QUESTION, "realm_id": realm.pk, "conversation_id": called, "seq": 2, "call_id": "toolu_1"}

    with refused(rule):
        insert("guardquestion", **row, **columns)


def test_a_dispute_is_kept_once(db):
    insert("dispute", id=QUESTION)

    with refused("ledger_dispute_once_per_reference"):
        insert("dispute", id=UUID(int=1))
