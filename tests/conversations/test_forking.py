import pytest

from conversations.errors import NotFoundError
from conversations.models import Conversation, HeadMove, Message, MessagePart, ToolCall
from conversations.reads.path import read_path
from conversations.services.appending import append_message
from conversations.services.forking import fork_conversation
from conversations.services.tool_results import CallEnding, answer_calls
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, calls, results, user
from tests.conversations.invariants import assert_well_formed

pytestmark = pytest.mark.django_db


@pytest.fixture
def origin(conversation):
    """A question, a call with its result, an answer; and another answer to the question."""
    place = {"conversation_id": conversation.pk, "actor": CUSTOMER, "now": NOW}
    append_message(message=user(client_message_id="m-1"), **place)
    append_message(message=calls("call_0"), **place)
    answer_calls(message=results("call_0"), endings=[CallEnding(call_id="call_0", duration_ms=140)], **place)
    append_message(message=assistant(), **place)
    append_message(message=assistant("Or not."), below=1, **place)
    return conversation


def fork(conversation, leaf_seq=4, **fields):
    return fork_conversation(
        conversation_id=conversation.pk, leaf_seq=leaf_seq, actor=CUSTOMER, now=NOW, **fields
    )


def said(conversation_id, leaf_seq):
    path = read_path(conversation_id=conversation_id, leaf_seq=leaf_seq)
    return [(message.draft.role, message.draft.parts, message.path_digest) for message in path]


def test_a_fork_holds_the_path_and_nothing_else(origin):
    forked = fork(origin)

    assert said(forked.pk, 4) == said(origin.pk, 4)
    assert Message.objects.filter(conversation=forked).count() == 4
    assert (forked.account_id, forked.head_seq, forked.has_fork) == (origin.account_id, 4, False)
    assert HeadMove.objects.get(conversation=forked).reason == "fork"
    assert_well_formed(forked.pk)


def test_the_origin_is_left_as_it_was(origin):
    fork(origin)

    origin.refresh_from_db()
    assert (origin.head_seq, origin.next_seq) == (5, 6)
    assert_well_formed(origin.pk)


def test_calls_keep_their_ids_and_their_lives(origin):
    forked = fork(origin)

    lives = ToolCall.objects.filter(call_id="call_0").order_by("conversation_id")
    assert {call.conversation_id for call in lives} == {origin.pk, forked.pk}
    assert {(call.status, call.duration_ms) for call in lives} == {("succeeded", 140)}
    assert MessagePart.objects.filter(tool_call_id="call_0").count() == 4


def test_calls_of_a_later_leaf_keep_their_lives_where_numbers_differ(origin):
    place = {"conversation_id": origin.pk, "actor": CUSTOMER, "now": NOW}
    append_message(message=user("And 1043?"), **place)
    append_message(message=calls("call_1"), **place)
    answer_calls(message=results("call_1"), **place)

    # 1, 5, 6, 7, 8 become 1 to 5.
    forked = fork(origin, leaf_seq=8)

    call = ToolCall.objects.get(conversation=forked)
    assert (call.seq, call.call_id, call.status) == (4, "call_1", "succeeded")
    assert_well_formed(forked.pk)


def test_client_ids_stay_with_the_origin(origin):
    forked = fork(origin)

    assert Message.objects.filter(conversation=forked, client_message_id__isnull=False).count() == 0


def test_a_fork_with_a_known_external_ref_is_the_first(origin):
    first = fork(origin, external_ref="fork-1")

    assert fork(origin, external_ref="fork-1") == first
    assert Conversation.objects.count() == 2


def test_a_fork_at_an_unanswered_call_may_be_answered_in_both(origin):
    forked = fork(origin, leaf_seq=2)

    answer_calls(conversation_id=forked.pk, message=results("call_0"), actor=CUSTOMER, now=NOW)

    assert_well_formed(forked.pk)


def test_a_leaf_that_is_not_there_is_not_found(origin):
    with pytest.raises(NotFoundError):
        fork(origin, leaf_seq=77)

    assert Conversation.objects.count() == 1
