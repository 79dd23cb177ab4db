"""A call that names no conversation is placed by its history alone, within its account."""

from conversations.models import Message
from tests.conversations.recording.exchanges import assistant, body, user


def test_without_a_name_a_first_question_tried_again_is_one_conversation(record, make_account):
    failed = record(body(user("Hi")), None, request_id="ask-1")
    again = record(body(user("Hi")), "Hello.", request_id="ask-1")
    other_words = record(body(user("Bye")), None, request_id="ask-1")
    once_more = record(body(user("Hi")), None, request_id="ask-1")
    of_another = record(body(user("Bye")), None, request_id="ask-1", account=make_account())

    assert (again.conversation_id, again.attempt) == (failed.conversation_id, 2)
    assert Message.objects.filter(conversation=failed.conversation_id).count() == 2
    conversations = {it.conversation_id for it in (failed, other_words, of_another)}
    assert len(conversations) == 3
    assert once_more.conversation_id == failed.conversation_id


def test_without_a_name_a_history_that_ends_in_an_answer_is_found(record):
    first = record(body(user("Hi")), "Hello.")

    second = record(body(user("Hi"), assistant("Hello."), user("And now?")))

    assert second.conversation_id == first.conversation_id


def test_without_a_name_equal_questions_are_two_conversations(record):
    first = record(body(user("Hi")), "Hello.")

    second = record(body(user("Hi")), "Hello.")

    assert second.conversation_id != first.conversation_id


def test_two_customers_with_equal_words_never_share_a_conversation(record, make_account):
    sent = body(user("Hi"), assistant("Hello."), user("And now?"))
    first = record(sent, "Then.")

    second = record(sent, "Then.", account=make_account())

    assert (second.match, second.conversation_id != first.conversation_id) == ("started", True)


def test_of_equal_conversations_the_one_last_active_goes_on(record):
    older = record(body(user("Hi")), "Hello.")
    newer = record(body(user("Hi")), "Hello.")

    third = record(body(user("Hi"), assistant("Hello."), user("And now?")))

    assert third.conversation_id == newer.conversation_id != older.conversation_id
