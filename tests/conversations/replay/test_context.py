from datetime import timedelta

import pytest

from access.actors import Actor, ActorKind
from conversations.ids import mint_id
from conversations.models import MessagePart, Summary
from conversations.replay.context import assemble, estimate_tokens
from conversations.services.appending import append_message
from tests.conversations import drafts
from tests.conversations.conftest import NOW

CUSTOMER = Actor(kind=ActorKind.CUSTOMER)


@pytest.fixture
def grow(conversation):
    def append(*messages):
        for message in messages:
            seq = append_message(
                conversation_id=conversation.id, message=message, actor=CUSTOMER, now=NOW
            ).seq
        return seq

    return append


@pytest.fixture
def make_summary(conversation):
    def make(**fields):
        fields = {
            "from_seq": 1,
            "to_seq": 2,
            "text": "So far.",
            "token_count": 5,
            "is_pinned": True,
            **fields,
        }
        return Summary.objects.create(
            id=mint_id(NOW), conversation=conversation, prompt_version="1", created_at=NOW, **fields
        )

    return make


def chosen(conversation, leaf, budget):
    context = assemble(conversation_id=conversation.id, leaf_seq=leaf, budget=budget)
    return [message.seq for message in context.messages], context.tokens, context.left_out


def test_the_newest_messages_fill_the_budget(conversation, grow):
    leaf = grow(*(drafts.user(f"{n}", token_count=10) for n in range(4)))

    assert chosen(conversation, leaf, 25) == ([3, 4], 20, [1, 2])


def test_everything_goes_in_where_it_fits(conversation, grow):
    leaf = grow(drafts.user("a", token_count=10), drafts.assistant("b", token_count=10))

    assert chosen(conversation, leaf, 20) == ([1, 2], 20, [])


@pytest.mark.parametrize(("budget", "seqs"), [(40, [2, 3, 4]), (39, [4]), (30, [4]), (9, [])])
def test_a_call_and_its_results_are_never_cut_apart(conversation, grow, budget, seqs):
    leaf = grow(
        drafts.user("Refund it", token_count=10),
        drafts.calls("t1", "t2", token_count=15),
        drafts.results("t1", "t2", token_count=15),
        drafts.assistant("Done.", token_count=10),
    )

    assert chosen(conversation, leaf, budget)[0] == seqs


def test_results_in_messages_of_their_own_stay_with_their_call(conversation, grow):
    leaf = grow(
        drafts.user("Go", token_count=1),
        drafts.calls("t1", "t2", token_count=10),
        drafts.results("t1", token_count=10),
        drafts.results("t2", token_count=10),
    )

    assert chosen(conversation, leaf, 29) == ([], 0, [1, 2, 3, 4])
    assert chosen(conversation, leaf, 30)[0] == [2, 3, 4]


def test_pinned_summaries_come_first_and_count(conversation, grow, make_summary):
    leaf = grow(*(drafts.user(f"{n}", token_count=10) for n in range(4)))
    pinned = make_summary(token_count=12)
    make_summary(is_pinned=False)
    make_summary(text="", invalidated_at=NOW + timedelta(1))

    context = assemble(conversation_id=conversation.id, leaf_seq=leaf, budget=25)

    assert context.summaries == [pinned]
    assert ([message.seq for message in context.messages], context.tokens) == ([4], 22)


def test_a_summary_of_another_branch_stays_out(conversation, grow, make_summary):
    grow(drafts.user("a"), drafts.assistant("b"))
    make_summary(from_seq=1, to_seq=2)
    other = append_message(
        conversation_id=conversation.id, message=drafts.assistant("c"), actor=CUSTOMER, now=NOW, below=1
    )

    assert assemble(conversation_id=conversation.id, leaf_seq=other.seq, budget=100).summaries == []


def test_a_message_without_a_count_is_estimated(conversation, grow):
    leaf = grow(drafts.user("x" * 400))

    assert chosen(conversation, leaf, 104) == ([1], 104, [])
    assert chosen(conversation, leaf, 103) == ([], 0, [1])
    assert estimate_tokens(drafts.user("x" * 400)) == 104


def test_a_counter_of_the_callers_is_asked(conversation, grow):
    leaf = grow(drafts.user("x" * 400), drafts.assistant("y"))

    context = assemble(
        conversation_id=conversation.id, leaf_seq=leaf, budget=3, count_tokens=lambda message: 2
    )

    assert [message.seq for message in context.messages] == [2]
    assert MessagePart.objects.count() == 2
