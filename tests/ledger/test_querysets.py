import pytest

from access.actors import Actor, ActorKind
from conversations.errors import ConflictError
from conversations.models import Conversation
from conversations.services.heads import switch_head
from ledger.models import EffectUse, ToolEffect
from ledger.querysets import (
    abandoned,
    abandoned_ids,
    effects_of_key,
    find_effects_by_reference,
    standings,
    totals,
    with_standing,
)
from ledger.services.detaching import detach_effects
from ledger.services.settling import settle_effect
from ledger.vocabulary import ReferenceKind, Standing
from tests.ledger.conftest import AGENT, LATER, Talk
from tests.ledger.seen import charged

pytestmark = pytest.mark.django_db

BUY = '{"order": %d, "amount": 1900, "currency": "usd"}'


@pytest.fixture
def buy(charge_card):
    """A call that charged; the number makes each a request of its own."""

    def make(talk, number, *, below=0):
        call_id = f"toolu_{number}"
        seq = talk.calls(call_id, arguments=BUY % number, below=below)
        effect = talk.begins(seq, call_id).effect
        seen = charged(f"ch_{number}", intent=f"pi_{number}")
        return settle_effect(effect_id=effect.pk, seen=seen, actor=AGENT, now=LATER).effect

    return make


def show(talk, seq):
    switch_head(conversation_id=talk.id, seq=seq, actor=Actor(ActorKind.CUSTOMER), now=LATER)


def numbers(effects):
    return sorted(effect.call_id for effect in effects)


def test_without_a_fork_nothing_is_abandoned(talk, buy):
    talk.says()
    effect = buy(talk, 1)

    assert list(abandoned()) == []
    assert standings([effect]) == {effect.pk: Standing.LIVE}


def test_what_an_edit_left_behind_is_abandoned_and_turning_back_makes_it_live(talk, buy):
    asked = talk.says()
    first = buy(talk, 1)
    edited = talk.edits(asked)
    second = buy(talk, 2)

    assert numbers(abandoned()) == ["toolu_1"]
    show(talk, first.call_seq)
    assert numbers(abandoned()) == ["toolu_2"]
    show(talk, edited)
    assert numbers(abandoned()) == ["toolu_1", "toolu_2"]
    assert set(standings([first, second]).values()) == {Standing.ABANDONED}


def test_a_head_that_was_turned_back_without_a_fork_abandons_what_came_after(talk, buy):
    asked = talk.says()
    buy(talk, 1)
    show(talk, asked)

    assert not Conversation.objects.get(pk=talk.id).has_fork
    assert numbers(abandoned()) == ["toolu_1"]


def test_two_roots_are_two_paths(talk, buy):
    asked = talk.says()
    buy(talk, 1)
    talk.answers("toolu_1")
    talk.replies()
    talk.edits(asked)
    buy(talk, 2)
    talk.answers("toolu_2")
    talk.says()
    buy(talk, 3)

    assert numbers(abandoned()) == ["toolu_1"]


def test_a_path_that_jumps_often_is_walked_to_its_root(talk, buy):
    asked = talk.says()
    kept = buy(talk, 1)
    talk.answers("toolu_1")
    talk.replies()
    for number in range(2, 6):
        asked = talk.says()
        buy(talk, number)
        talk.answers(f"toolu_{number}")
        talk.edits(asked)
        talk.replies()
    talk.says()
    end = buy(talk, 9)

    assert numbers(abandoned()) == ["toolu_2", "toolu_3", "toolu_4", "toolu_5"]
    assert standings([kept, end]) == {kept.pk: Standing.LIVE, end.pk: Standing.LIVE}


def test_a_use_on_the_live_path_keeps_an_effect_alive(talk, buy):
    asked = talk.says()
    first = buy(talk, 1)
    talk.edits(asked)
    seq = talk.calls("toolu_2")
    EffectUse.objects.create(conversation_id=talk.id, seq=seq, call_id="toolu_2", effect=first, used_at=LATER)

    assert list(abandoned()) == []


def test_only_applied_effects_are_asked_for(talk, charge_card):
    asked = talk.says()
    talk.begins(talk.calls("toolu_1"), "toolu_1")
    talk.edits(asked)

    assert list(abandoned()) == []
    assert numbers(with_standing(ToolEffect.objects.all(), Standing.ABANDONED)) == ["toolu_1"]


def test_standings_and_lists_agree(talk, buy, make_conversation):
    asked = talk.says()
    buy(talk, 1)
    talk.edits(asked)
    buy(talk, 2)
    other = Talk(make_conversation())
    other.says()
    buy(other, 3)
    gone = Talk(make_conversation())
    gone.says()
    buy(gone, 4)
    detach_effects(conversation_id=gone.id, now=LATER)

    every = ToolEffect.objects.all()
    by_list = {standing: numbers(with_standing(every, standing)) for standing in Standing}

    assert by_list == {
        Standing.LIVE: ["toolu_2", "toolu_3"],
        Standing.ABANDONED: ["toolu_1"],
        Standing.DETACHED: ["toolu_4"],
    }
    assert [effect.pk for effect in with_standing(every, Standing.ABANDONED)] == abandoned_ids()
    assert standings(every) == {
        effect.pk: standing for standing in Standing for effect in with_standing(every, standing)
    }


def test_what_is_detached_keeps_its_call_and_its_standing(talk, buy):
    asked = talk.says()
    effect = buy(talk, 1)
    seq = effect.call_seq
    talk.edits(asked)

    assert detach_effects(conversation_id=talk.id, now=LATER) == 1

    effect.refresh_from_db()
    assert (effect.call_seq, effect.detached_seq, effect.call_id, effect.detached_standing) == (
        None,
        seq,
        "toolu_1",
        "abandoned",
    )


def test_only_the_messages_named_are_detached(talk, buy):
    asked = talk.says()
    first = buy(talk, 1)
    talk.edits(asked)
    buy(talk, 2)

    # More than a statement may have parameters, as a long branch has.
    seqs = [first.call_seq, *range(10_000, 10_000 + 2**16)]
    assert detach_effects(conversation_id=talk.id, now=LATER, seqs=seqs) == 1

    assert numbers(ToolEffect.objects.filter(call_seq=None)) == ["toolu_1"]


def test_an_open_effect_does_not_let_go(bought):
    with pytest.raises(ConflictError) as refused:
        detach_effects(conversation_id=bought.conversation_id, now=LATER)

    assert refused.value.rule == "effect-open"
    bought.refresh_from_db()
    assert bought.call_seq is not None


@pytest.mark.parametrize("reference", ["ch_1", "pi_1"])
def test_an_effect_is_found_by_each_id_of_the_processor(talk, buy, reference):
    talk.says()
    effect = buy(talk, 1)

    assert list(find_effects_by_reference(reference)) == [effect]
    assert list(find_effects_by_reference("ch_unknown")) == []


def test_an_effect_is_found_by_its_refund_and_its_key(talk, buy, give_back):
    talk.says()
    effect = buy(talk, 1)
    give_back(effect, 100, "re_9")

    assert list(find_effects_by_reference("re_9")) == [effect]
    assert list(find_effects_by_reference(effect.idempotency_key)) == [effect]


def test_a_refund_that_a_tool_made_is_no_second_sum(talk, buy, register):
    register("give_back", operation="refund", amount_path="", currency_path="")
    talk.says()
    buy(talk, 1)
    seq = talk.calls("toolu_2", name="give_back", arguments="{}", below=talk.answers("toolu_1"))
    refund = talk.begins(seq, "toolu_2", amount_minor=900, currency="usd").effect
    seen = charged("re_1", amount_minor=900, references=[(ReferenceKind.REFUND, "re_1")])
    settle_effect(effect_id=refund.pk, seen=seen, actor=AGENT, now=LATER)

    assert [(each.effects, each.settled_minor) for each in totals(ToolEffect.objects.all())] == [(1, 1900)]


def test_totals_never_add_currencies(talk, buy, charge_card, give_back):
    talk.says()
    effect = buy(talk, 1)
    give_back(effect, 900)
    seq = talk.calls("toolu_2", arguments='{"amount": 5800, "currency": "jpy"}', below=effect.call_seq - 1)
    yen = talk.begins(seq, "toolu_2").effect
    seen = charged("ch_2", intent="pi_2", amount_minor=5800, currency="jpy")
    settle_effect(effect_id=yen.pk, seen=seen, actor=AGENT, now=LATER)

    assert [(each.currency, each.effects, each.net_minor) for each in totals(ToolEffect.objects.all())] == [
        ("jpy", 1, 5800),
        ("usd", 1, 1000),
    ]


def test_an_effect_is_found_by_its_key_whosever_it_is(talk, buy):
    talk.says()
    effect = buy(talk, 1)

    assert list(effects_of_key(effect.idempotency_key)) == [effect]
    assert not effects_of_key("of nobody").exists()
