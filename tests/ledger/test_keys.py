from uuid import UUID

import pytest

from conversations.canonical_json import parse_value
from ledger.models import ToolEffect
from ledger.services.arguments import Request, normalized
from ledger.services.keys import CallPlace, Scope, make_key
from ledger.services.settling import settle_effect
from ledger.vocabulary import KeyScope, Operation
from tests.ledger.conftest import AGENT, LATER
from tests.ledger.seen import charged

CALL = CallPlace(conversation_id=UUID(int=7), seq=2, call_id="toolu_1")


def digest(arguments: str, **given):
    facts = {
        "tool_name": "charge_card",
        "operation": Operation.CHARGE,
        "amount_minor": 1900,
        "currency": "usd",
        **given,
    }
    return Request(arguments=normalized(parse_value(arguments.encode())), **facts).digest


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a": 1, "b": 2}', '{"b":2,"a":1}'),
        ('{"amount": 1900}', '{"amount": 1.9e3}'),
        ('{"amount": 19.90}', '{"amount": 19.9}'),
        ('{"name": "caf\\u00e9"}', '{"name": "café"}'),
        ('{"name": "caf\\u0065\\u0301"}', '{"name": "café"}'),
        ('{"n": 12345678901234567890}', '{"n": 1234567890123456789e1}'),
    ],
)
def test_two_spellings_of_one_request_are_one(one, other):
    assert digest(one) == digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"amount": 1900}', '{"amount": "1900"}'),
        ('{"amount": 1900}', '{"amount": 1901}'),
        ('{"a": null}', "{}"),
        ('{"name": "Ann"}', '{"name": "ann"}'),
        ('{"n": 9007199254740993}', '{"n": 9007199254740992}'),
        ('{"a": [1, 2]}', '{"a": [2, 1]}'),
        ('{"a": true}', '{"a": 1}'),
    ],
)
def test_two_requests_never_share_a_digest(one, other):
    assert digest(one) != digest(other)


@pytest.mark.parametrize(
    "given",
    [{"amount_minor": 700}, {"currency": "eur"}, {"operation": Operation.REFUND}, {"tool_name": "pay"}],
)
def test_what_is_sent_besides_the_arguments_counts(given):
    assert digest("{}") != digest("{}", **given)


@pytest.mark.parametrize("scope", list(KeyScope))
def test_a_key_is_stable_short_and_scoped_by_realm(scope):
    key = make_key(realm_id=1, scope=Scope(scope, 3), call=CALL, digest=b"\1" * 32)

    assert key == make_key(realm_id=1, scope=Scope(scope, 3), call=CALL, digest=b"\1" * 32)
    assert key != make_key(realm_id=2, scope=Scope(scope, 3), call=CALL, digest=b"\1" * 32)
    assert key != make_key(realm_id=1, scope=Scope(scope, 3, 2), call=CALL, digest=b"\1" * 32)
    assert len(key) <= 255
    assert key.isascii()


def test_a_released_key_does_not_change():
    scope = Scope(KeyScope.BRANCH_ROOT, root_seq=None, counter=1)

    assert make_key(realm_id=1, scope=scope, call=CALL, digest=b"\0" * 32) == (
        "cf1_root_ca654c84b56e61a83293fe3435178bf898d8f8056ddd49304cda53cdd6d83b54"
    )


def test_only_the_key_of_a_call_leaves_the_request_out():
    keys = {
        scope: {make_key(realm_id=1, scope=Scope(scope), call=CALL, digest=bytes([n]) * 32) for n in (1, 2)}
        for scope in KeyScope
    }

    assert {scope: len(made) for scope, made in keys.items()} == {
        KeyScope.CALL: 1,
        KeyScope.CONVERSATION: 2,
        KeyScope.BRANCH_ROOT: 2,
    }


@pytest.mark.django_db
def test_the_branch_root_is_the_parent_of_the_message_that_opened_the_turn(talk, register):
    register(replay_policy="free")
    talk.says("Hello")
    root = talk.replies()
    talk.says()
    talk.calls("toolu_0", name="get_order")
    talk.answers("toolu_0")
    seq = talk.calls("toolu_1")

    talk.begins(seq, "toolu_1")

    effect = ToolEffect.objects.get()
    assert (effect.key_scope, effect.key_root_seq, effect.key_counter) == ("branch_root", root, 1)


@pytest.mark.django_db
def test_the_first_turn_has_the_start_of_the_conversation_as_its_root(talk, charge_card):
    asked = talk.says()
    first = talk.begins(talk.calls("toolu_1"), "toolu_1").effect
    talk.edits(asked)
    again = talk.begins(talk.calls("toolu_2"), "toolu_2")

    assert first.key_root_seq is None
    assert again.earlier == first


@pytest.mark.django_db
def test_calls_that_are_equal_within_a_turn_are_counted_along_the_path(talk, register):
    register(replay_policy="free")
    talk.says()
    for number in (1, 2, 3):
        call_id = f"toolu_{number}"
        begun = talk.begins(talk.calls(call_id), call_id)
        seen = charged(f"ch_{number}", intent=f"pi_{number}")
        settle_effect(effect_id=begun.effect.pk, seen=seen, actor=AGENT, now=LATER)
        talk.answers(call_id)

    effects = ToolEffect.objects.order_by("call_id")
    assert [effect.key_counter for effect in effects] == [1, 2, 3]
    assert len({effect.idempotency_key for effect in effects}) == 3
