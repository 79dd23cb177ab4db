"""Many writers append to one conversation: nothing is lost, nothing is written twice."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from conversations.errors import StoreError
from conversations.models import HeadMove, Message
from tests.conversations.concurrency.steps import WRITERS, append
from tests.conversations.conftest import NOW
from tests.conversations.drafts import assistant, user
from tests.conversations.invariants import assert_well_formed
from tests.conversations.writers import PATIENCE, at_once, closing_connections

pytestmark = pytest.mark.django_db(transaction=True)


def log(conversation):
    return list(
        HeadMove.objects.filter(conversation=conversation)
        .order_by("number")
        .values_list("number", "head_seq")
    )


def test_an_append_outside_a_transaction_is_exactly_one_statement(conversation):
    append(conversation, user())

    with CaptureQueriesContext(connection) as captured:
        append(conversation, assistant(client_message_id="m-2"))
        append(conversation, user("And 1043?"))

    assert len(captured) == 2
    assert all(query["sql"].lstrip().startswith("WITH conversation") for query in captured)
    assert_well_formed(conversation.pk)


def test_a_writer_that_waited_for_another_needs_no_second_statement(conversation):
    append(conversation, user())

    def write_and_count():
        with CaptureQueriesContext(connection) as captured:
            appended = append(conversation, user("second"), now=NOW - timedelta(minutes=1))
        return appended.seq, len(captured)

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            append(conversation, assistant("first"), now=NOW + timedelta(minutes=1))
            waiting = pool.submit(closing_connections, write_and_count)
            wait_until_somebody_waits()
        assert waiting.result(PATIENCE) == (3, 1)

    assert_well_formed(conversation.pk)


def wait_until_somebody_waits():
    with connection.cursor() as cursor:
        for _ in range(500):
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone() != (0,):
                return
            time.sleep(0.01)
    raise AssertionError("nobody waited for the lock")


def test_32_writers_append_one_line(conversation):
    appended = at_once(
        *[
            partial(append, conversation, user(f"line {n}", client_message_id=f"m-{n}"))
            for n in range(WRITERS)
        ]
    )

    assert sorted(one.seq for one in appended) == list(range(1, WRITERS + 1))
    assert log(conversation) == [(n, n) for n in range(1, WRITERS + 1)]
    # Each hangs below the one before: a line, no fork.
    parents = Message.objects.filter(conversation=conversation).order_by("seq")
    assert list(parents.values_list("parent_seq", flat=True)) == [None, *range(1, WRITERS)]
    assert_well_formed(conversation.pk)


def test_32_writers_with_8_client_ids_leave_8_rows(conversation):
    appended = at_once(
        *[
            partial(append, conversation, user(f"line {n % 8}", client_message_id=f"m-{n % 8}"))
            for n in range(WRITERS)
        ]
    )

    assert Counter(one.is_new for one in appended) == {True: 8, False: WRITERS - 8}
    assert Message.objects.filter(conversation=conversation).count() == 8
    # All writers of one id were told the same place.
    assert len({(n % 8, one.seq) for n, one in enumerate(appended)}) == 8
    assert_well_formed(conversation.pk)


def test_a_client_id_for_two_contents_at_once_keeps_one(conversation):
    append(conversation, user())

    first, second = at_once(
        partial(append, conversation, assistant("yes", client_message_id="m-1"), below=1),
        partial(append, conversation, assistant("no", client_message_id="m-1"), below=1),
    )

    refused = [one for one in (first, second) if isinstance(one, StoreError)]
    assert [error.rule for error in refused] == ["client-id-used"]
    assert Message.objects.filter(conversation=conversation).count() == 2
    assert_well_formed(conversation.pk)


def test_appends_below_one_message_become_versions(conversation):
    append(conversation, user())

    appended = at_once(*[partial(append, conversation, assistant(f"answer {n}"), below=1) for n in range(8)])

    assert sorted(one.seq for one in appended) == list(range(2, 10))
    assert set(Message.objects.filter(seq__gt=1).values_list("parent_seq", flat=True)) == {1}
    assert_well_formed(conversation.pk)


def test_times_that_differ_between_writers_keep_the_log_in_order(conversation):
    append(conversation, user())

    at_once(
        *[
            partial(
                append, conversation, assistant(f"a {n}"), now=NOW + timedelta(seconds=(7 * n) % 16), below=1
            )
            for n in range(16)
        ]
    )

    assert_well_formed(conversation.pk)
    assert len(log(conversation)) == 17
