from datetime import timedelta

import pytest
from django.db import connection

from conversations.digests import chain, path_salt
from conversations.errors import ConflictError, NotFoundError, StoreError
from conversations.identity import path_digests, unit_digests
from conversations.models import Conversation, HeadMove, Message, MessagePart, ToolCall
from conversations.services.appending import append_message, edit_message, regenerate_message
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, calls, result, results, user

pytestmark = pytest.mark.django_db


def append(conversation, message, **fields):
    return append_message(
        **{"conversation_id": conversation.pk, "message": message, "actor": CUSTOMER, "now": NOW, **fields}
    )


def tree(conversation):
    return list(
        Message.objects.filter(conversation=conversation).order_by("seq").values_list("seq", "parent_seq")
    )


def test_messages_hang_below_the_head_and_the_log_follows(conversation):
    append(conversation, user())
    append(conversation, assistant(), now=NOW + timedelta(seconds=2))

    conversation.refresh_from_db()
    assert tree(conversation) == [(1, None), (2, 1)]
    assert (conversation.head_seq, conversation.head_move, conversation.next_seq) == (2, 2, 3)
    assert list(HeadMove.objects.order_by("number").values_list("number", "head_seq", "reason")) == [
        (1, 1, "append"),
        (2, 2, "append"),
    ]
    assert conversation.last_activity_at == NOW + timedelta(seconds=2)
    assert not conversation.has_fork


def test_an_ordinary_append_is_one_statement(conversation, django_assert_num_queries):
    append(conversation, user())
    message = assistant(client_message_id="m-2")

    # Inside the test's transaction a savepoint, the statement, the two checks, and the release.
    with django_assert_num_queries(4) as captured:
        append(conversation, message)

    writes = [query["sql"] for query in captured if "INSERT" in query["sql"]]
    assert len(writes) == 1


def test_a_repeated_client_id_returns_what_is_stored(conversation):
    first = append(conversation, user(client_message_id="m-1"))
    append(conversation, assistant())

    again = append(conversation, user(client_message_id="m-1"))

    assert (again.seq, again.is_new) == (first.seq, False)
    assert tree(conversation) == [(1, None), (2, 1)]


def test_a_client_id_used_for_other_content_is_refused(conversation):
    append(conversation, user("Refund order 1042", client_message_id="m-1"))

    with pytest.raises(ConflictError, match="client message id 'm-1' was used for other content"):
        append(conversation, user("Refund order 1043", client_message_id="m-1"))

    assert tree(conversation) == [(1, None)]


def test_results_join_the_group_of_their_calls(conversation):
    append(conversation, user())
    append(conversation, calls("call_0", "call_1"))
    append(conversation, results("call_0"))
    append(conversation, results("call_1"))
    append(conversation, assistant())

    groups = Message.objects.filter(conversation=conversation).order_by("seq")
    assert list(groups.values_list("answers_seq", "group_ordinal")) == [
        (None, 1),
        (None, 2),
        (2, 2),
        (2, 2),
        (None, 5),
    ]
    assert ToolCall.objects.filter(conversation=conversation).count() == 2


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        (results("call_9"), "result-without-call"),
        (user("never mind"), "call-unanswered"),
        (calls("call_2", "call_2"), "call-id-repeated"),
    ],
)
def test_what_breaks_the_pairing_is_refused_and_writes_nothing(conversation, message, rule):
    append(conversation, user())
    if rule != "call-id-repeated":
        append(conversation, calls("call_0"))
    before = tree(conversation)

    with pytest.raises(StoreError) as refused:
        append(conversation, message)

    assert refused.value.rule == rule
    assert str(conversation.pk) in refused.value.place
    assert tree(conversation) == before


def test_a_second_result_for_a_call_on_one_path_is_refused(conversation):
    append(conversation, user())
    append(conversation, calls("call_0"))
    append(conversation, results("call_0"))

    with pytest.raises(StoreError) as refused:
        append(conversation, results("call_0"))

    assert refused.value.rule == "call-answered-twice"


def test_two_branches_may_each_answer_a_call(conversation):
    append(conversation, user())
    append(conversation, calls("call_0"))
    append(conversation, results("call_0"))
    append(conversation, results("call_0"), below=2)

    conversation.refresh_from_db()
    assert tree(conversation) == [(1, None), (2, 1), (3, 2), (4, 2)]
    assert conversation.has_fork


def test_an_orphan_is_kept_outside_the_pairing(conversation):
    message = user()
    message.parts.append(result("call_gone", orphan=True))

    append(conversation, message)

    part = MessagePart.objects.get(conversation=conversation, ordinal=1)
    assert (part.orphan, part.answers_seq) == (True, None)
    assert not ToolCall.objects.exists()


def test_an_edit_is_a_sibling_and_moves_the_head(conversation):
    append(conversation, user("Buy plan A"))
    append(conversation, assistant("Done."))

    edited = edit_message(
        conversation_id=conversation.pk, seq=1, message=user("Buy plan B"), actor=CUSTOMER, now=NOW
    )

    conversation.refresh_from_db()
    assert tree(conversation) == [(1, None), (2, 1), (3, None)]
    assert (edited.seq, conversation.head_seq, conversation.has_fork) == (3, 3, True)
    assert Message.objects.get(conversation=conversation, seq=3).branch_reason == "user_edit"


def test_only_users_messages_are_edited_and_only_answers_regenerated(conversation):
    append(conversation, user())
    append(conversation, assistant())

    with pytest.raises(StoreError, match="only a user's message can be edited"):
        edit_message(conversation_id=conversation.pk, seq=2, message=user("x"), actor=CUSTOMER, now=NOW)
    with pytest.raises(StoreError, match="only an assistant's message can be regenerated"):
        regenerate_message(
            conversation_id=conversation.pk, seq=1, message=assistant("x"), actor=CUSTOMER, now=NOW
        )

    assert tree(conversation) == [(1, None), (2, 1)]


def test_a_regenerated_answer_stands_beside_the_first(conversation):
    append(conversation, user())
    append(conversation, assistant("One."))

    regenerate_message(
        conversation_id=conversation.pk, seq=2, message=assistant("Two."), actor=CUSTOMER, now=NOW
    )

    assert tree(conversation) == [(1, None), (2, 1), (3, 1)]
    assert HeadMove.objects.get(conversation=conversation, number=3).reason == "regenerate"


def test_a_parent_of_another_conversation_is_not_found(conversation, make_conversation):
    other = make_conversation()
    append(conversation, user())
    append(conversation, assistant())

    with pytest.raises(NotFoundError) as refused:
        append(other, user(), below=2)

    assert refused.value.rule == "parent-elsewhere"
    assert tree(other) == []


def test_the_database_and_python_compute_the_same_digest(conversation, account):
    first, second, third = user("Hi"), assistant("Hello"), assistant("Still there?")
    append(conversation, first)
    append(conversation, second)
    append(conversation, third)

    stored = [
        bytes(digest)
        for digest in Message.objects.filter(conversation=conversation)
        .order_by("seq")
        .values_list("path_digest", flat=True)
    ]
    assert stored == path_digests([first, second, third], account_id=account.pk)
    assert stored[0] == chain(path_salt(account.pk), unit_digests(first))


def test_a_title_that_postgresql_cannot_hold_is_marked(make_conversation):
    conversation = make_conversation(title="be\x00fore")

    assert Conversation.objects.get(pk=conversation.pk).title == "be\ufffdfore"


def test_an_external_ref_starts_one_conversation(make_conversation):
    first = make_conversation(external_ref="ticket-7")

    assert make_conversation(external_ref="ticket-7") == first
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM conversations_conversation")
        assert cursor.fetchone() == (1,)
