import itertools
from uuid import UUID

import pytest
from django.db import transaction

from ledger.vocabulary import LEGAL_MOVES, EffectState
from tests.conversations.conftest import NOW
from tests.conversations.schema.rows import PRIVILEGE, execute, fetch
from tests.ledger.schema.rows import begin, insert, move, refused

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True)]

OTHER = UUID("019cd2e8-8620-745a-943e-d7568a45ad63")
ILLEGAL = [
    pair
    for pair in itertools.product(["", *EffectState.values], EffectState.values)
    if pair not in [(str(before), str(after)) for before, after in LEGAL_MOVES]
]


@pytest.mark.parametrize(("before", "after"), ILLEGAL)
def test_a_move_that_is_not_legal_is_refused(effect, before, after):
    with refused("ledger_effectmove_is_legal"):
        number = 2 if before else 1
        insert("effectmove", effect_id=effect, number=number, from_state=before, to_state=after)


@pytest.mark.parametrize(
    "columns",
    [
        {"state": "applied", "external_ref": "ch_1", "settled_at": NOW},
        {"state": "failed"},
        {"move": 2},
        {"sent_at": NOW},
        {"settled_at": NOW},
        {"amount_reserved_minor": 1},
        {"amount_compensated_minor": 1},
    ],
)
def test_an_effect_begins_pending_and_unsent(facts, columns):
    with refused("ledger_effect_begins_pending"):
        begin(OTHER, **facts, **columns)


def test_an_effect_without_its_first_line_is_refused(facts):
    with refused("ledger_effect_state_has_its_move"):
        insert("tooleffect", id=OTHER, **facts)


def test_a_state_does_not_move_without_its_line(effect):
    with refused("ledger_effect_state_has_its_move"):
        execute("UPDATE ledger_tooleffect SET state = 'failed', move = 2 WHERE id = %s", effect)


def test_a_line_is_not_written_without_moving_the_state(effect):
    with refused("ledger_effectmove_last_is_the_state"):
        insert("effectmove", effect_id=effect, number=2, from_state="pending", to_state="failed")


def test_a_move_begins_where_the_one_before_ended(applied):
    with refused("ledger_effectmove_follows_the_one_before"):
        move(applied, 3, "failed", "applied")


def test_a_move_is_not_left_out(effect):
    with refused("ledger_effectmove_follows_the_one_before"):
        insert("effectmove", effect_id=effect, number=3, from_state="pending", to_state="failed")


def test_a_move_needs_evidence(effect):
    with refused("ledger_effectmove_has_evidence"):
        move(effect, 2, "pending", "failed", evidence_ref="")


def test_absence_is_the_only_evidence_without_a_reference(effect):
    with transaction.atomic():
        move(effect, 2, "pending", "failed", evidence_ref="", source="absent")

    assert fetch("SELECT state FROM ledger_tooleffect") == [("failed",)]


def test_only_the_first_move_is_a_beginning(effect):
    with refused("ledger_effectmove_only_the_first_begins"):
        move(effect, 2, "pending", "failed", source="begin")


def test_what_is_applied_names_the_processors_object(effect):
    with refused("ledger_effect_applied_has_reference"):
        move(effect, 2, "pending", "applied")


def test_two_effects_never_share_a_key_in_one_realm(effect, facts):
    with refused("ledger_effect_key_once_per_realm"):
        begin(OTHER, **facts, call_id="toolu_2")


def test_a_call_has_one_effect(effect, facts):
    with refused("ledger_effect_once_per_call"):
        begin(OTHER, **facts, idempotency_key="k-2")


def test_an_effect_names_a_recorded_call(facts):
    with refused("ledger_effect_call_is_recorded"):
        begin(OTHER, **facts, call_id="toolu_9")


def test_a_call_cannot_be_taken_from_its_effect(effect, called):
    with refused("ledger_effect_call_is_recorded"):
        execute("DELETE FROM conversations_conversation WHERE id = %s", called)


def test_a_conversation_may_go_once_its_effects_are_detached(applied, called):
    execute(
        "UPDATE ledger_tooleffect SET call_seq = NULL, detached_seq = 2, detached_at = %s,"
        " detached_standing = 'live' WHERE id = %s",
        NOW,
        applied,
    )

    execute("DELETE FROM conversations_conversation WHERE id = %s", called)

    assert fetch("SELECT call_id, detached_seq, state FROM ledger_tooleffect") == [("toolu_1", 2, "applied")]


def test_detached_is_a_whole(effect):
    with refused("ledger_effect_detached_as_a_whole"):
        execute("UPDATE ledger_tooleffect SET call_seq = NULL WHERE id = %s", effect)


@pytest.mark.parametrize(
    "change",
    [
        "amount_minor = 1",
        "idempotency_key = 'k-2'",
        "operation = 'refund'",
        "processor = 'other'",
        "tool_name = 'x'",
        "currency = 'eur'",
        "requested_at = requested_at + interval '1 day'",
        "request_digest = '\\x01'",
        "key_counter = 2",
        "call_id = 'toolu_2'",
    ],
)
def test_what_an_effect_was_begun_with_does_not_change(effect, change):
    with refused("ledger_effect_keeps_its_facts"):
        execute(f"UPDATE ledger_tooleffect SET {change} WHERE id = %s", effect)


def test_the_moment_of_sending_is_written_once(effect):
    execute("UPDATE ledger_tooleffect SET sent_at = %s WHERE id = %s", NOW, effect)

    for other in ("NULL", "sent_at + interval '1 day'"):
        with refused("ledger_effect_keeps_its_facts"):
            execute(f"UPDATE ledger_tooleffect SET sent_at = {other} WHERE id = %s", effect)


def test_an_effect_is_never_deleted(effect):
    with refused(PRIVILEGE):
        execute("DELETE FROM ledger_tooleffect WHERE id = %s", effect)


def test_history_is_never_changed_by_the_application(effect):
    for statement in (
        "UPDATE ledger_effectmove SET evidence_ref = 'x'",
        "DELETE FROM ledger_effectmove",
        "UPDATE ledger_effectreference SET reference = 'x'",
        "DELETE FROM ledger_effectuse",
        "UPDATE ledger_toolpolicychange SET changed_at = now()",
        "DELETE FROM ledger_contradiction",
    ):
        with refused(PRIVILEGE):
            execute(statement)


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        ("DELETE FROM ledger_tooleffect", "ledger_effect_stays"),
        ("UPDATE ledger_effectmove SET evidence_ref = 'x'", "ledger_append_only"),
        ("DELETE FROM ledger_effectmove", "ledger_append_only"),
        ("UPDATE ledger_contradiction SET reference = 'x'", "ledger_append_only"),
        ("DELETE FROM ledger_effectreference", "ledger_append_only"),
    ],
)
def test_not_even_the_owner_rewrites_what_happened(effect, statement, rule):
    insert("contradiction", effect_id=effect)
    insert("effectreference", effect_id=effect)

    with refused(rule, using="owner"):
        execute(statement, using="owner")


def test_a_contradiction_is_kept_once(effect):
    insert("contradiction", effect_id=effect)

    with refused("ledger_contradiction_once"):
        insert("contradiction", effect_id=effect)


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        ({"key_scope": "day"}, "ledger_effect_key_scope_is_known"),
        ({"key_counter": 0}, "ledger_effect_key_scope_is_known"),
        ({"operation": "gift"}, "ledger_effect_operation_is_known"),
        ({"currency": ""}, "ledger_effect_amount_has_currency"),
        ({"amount_minor": -1}, "ledger_effect_amount_has_currency"),
    ],
)
def test_a_value_outside_its_list_is_refused(facts, columns, rule):
    with refused(rule):
        begin(OTHER, **facts, **columns)


def test_a_use_is_of_a_recorded_call(effect, called):
    with refused("ledger_use_of_a_recorded_call"):
        insert("effectuse", conversation_id=called, seq=2, call_id="toolu_9", effect_id=effect)


def test_one_index_begins_with_the_realm():
    of_effects = "SELECT indexname FROM pg_indexes WHERE tablename = 'ledger_tooleffect'"

    found = fetch(f"{of_effects} AND indexdef LIKE '%(realm_id%'")

    assert found == [("ledger_effect_key_once_per_realm",)]
