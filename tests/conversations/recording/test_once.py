import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from access.models import Realm
from conversations.models import Conversation, Exchange, Generation, HeadMove, Message
from conversations.services.recording.once import ExchangeReusedError
from tests.conversations.conftest import NOW
from tests.conversations.recording.exchanges import answer, assistant, body, user


def counts() -> tuple[int, ...]:
    return tuple(model.objects.count() for model in (Conversation, Message, Generation, HeadMove, Exchange))


def test_a_second_delivery_changes_nothing_and_returns_the_first(record):
    first = record(body(user("Hi")), "Hello.", exchange_id="x-1")
    before = counts()

    again = record(body(user("Hi")), "Hello.", exchange_id="x-1")

    assert (again.was_known, again.conversation_id, again.answer_seq) == (True, first.conversation_id, 2)
    assert counts() == before == (1, 2, 1, 1, 1)


def test_without_an_exchange_id_the_providers_response_id_serves(record):
    told = answer("Hello.")
    first = record(body(user("Hi")), told)

    again = record(body(user("Hi")), told)

    assert (again.was_known, again.conversation_id) == (True, first.conversation_id)


def test_an_exchange_id_for_another_body_is_refused_and_the_first_stays(record):
    first = record(body(user("Refund 500")), "Done.", exchange_id="x-1")
    before = counts()

    with pytest.raises(ExchangeReusedError) as refused:
        record(body(user("Refund 700")), "Done.", exchange_id="x-1")

    assert refused.value.rule == "exchange-id-used"
    assert refused.value.place == f"conversation {first.conversation_id}, attempt 1"
    assert counts() == before


def test_answers_to_which_a_server_gives_one_id_are_all_kept(record):
    bodies = [body(user("One")), body(user("Two")), body(user("Three"))]
    kept = [record(one, answer("Fine.", id="chatcmpl-0")) for one in bodies]

    again = [record(one, answer("Fine.", id="chatcmpl-0")) for one in bodies]

    assert [one.was_known for one in kept] == [False, False, False]
    assert len({one.conversation_id for one in kept}) == 3
    assert [(one.was_known, one.conversation_id) for one in again] == [
        (True, one.conversation_id) for one in kept
    ]


def test_an_exchange_id_is_unique_within_its_realm_only(record, make_account):
    elsewhere = Realm.objects.create(slug="harbour", name="Harbour", created_at=NOW)
    record(body(user("Hi")), exchange_id="x-1")

    other = record(body(user("Hi")), exchange_id="x-1", account=make_account(realm=elsewhere))

    assert not other.was_known


def test_two_long_exchange_ids_with_one_beginning_stay_two(record):
    record(body(user("Hi")), exchange_id="x" * 300 + "1")

    other = record(body(user("Hi")), exchange_id="x" * 300 + "2")

    assert not other.was_known


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_named", [False, True])
def test_two_recorders_of_one_exchange_at_once_leave_one(record, is_named):
    first = record(body(user("Hi")), "Hello.")
    sent = body(user("Hi"), assistant("Hello."), user("And now?"))
    told = answer("Then.")
    barrier = threading.Barrier(4)

    def deliver(_):
        barrier.wait()
        try:
            return record(sent, told, exchange_id="x-2", after=first if is_named else None)
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=4) as pool:
        exchanges = list(pool.map(deliver, range(4)))

    assert sorted(exchange.was_known for exchange in exchanges) == [False, True, True, True]
    assert {exchange.answer_seq for exchange in exchanges} == {4}
    assert counts() == (1, 4, 2, 2, 2)


@pytest.mark.django_db(transaction=True)
def test_two_recorders_of_a_first_exchange_at_once_start_one_conversation(record):
    barrier = threading.Barrier(3)

    def deliver(_):
        barrier.wait()
        try:
            return record(body(user("Hi")), "Hello.", exchange_id="x-1")
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=3) as pool:
        exchanges = list(pool.map(deliver, range(3)))

    assert len({exchange.conversation_id for exchange in exchanges}) == 1
    assert counts() == (1, 2, 1, 1, 1)
