"""Many writers on one conversation: nothing is lost, nothing is written twice, nobody is turned away."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from conversations.errors import StoreError
from conversations.models import Conversation, Generation, HeadMove, Message, MessagePart
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message, edit_message, regenerate_message
from conversations.services.forking import fork_conversation
from conversations.services.generations import Attempt, Outcome, begin_generation, finish_generation
from conversations.services.heads import switch_head
from conversations.services.starting import start_conversation
from conversations.services.tool_results import answer_calls
from conversations.vocabulary import Dialect, GenerationStatus
from conversations.wire.shapes import Usage
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, calls, results, user
from tests.conversations.invariants import assert_well_formed
from tests.conversations.writers import PATIENCE, at_once, closing_connections

pytestmark = pytest.mark.django_db(transaction=True)

WRITERS = 32


def append(conversation, message, **fields):
    return append_message(
        **{"conversation_id": conversation.pk, "message": message, "actor": CUSTOMER, "now": NOW, **fields}
    )


def attempt(number=1, request="r"):
    return Attempt(
        request_id=f"{request}-{number}",
        provider="anthropic",
        dialect=Dialect.ANTHROPIC_MESSAGES,
        requested_model="claude-sonnet-4-5",
    )


def begin(conversation, leaf_seq, number=1):
    return begin_generation(
        conversation_id=conversation.pk, leaf_seq=leaf_seq, attempt=attempt(number), now=NOW
    )


def finish(conversation, number, message, **fields):
    outcome = Outcome(status=GenerationStatus.COMPLETE, message=message, **fields)
    return finish_generation(
        conversation_id=conversation.pk, number=number, outcome=outcome, actor=CUSTOMER, now=NOW
    )


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


def test_an_answer_and_a_note_at_once_both_stay(conversation):
    for seq in range(1, 5):
        append(conversation, user() if seq % 2 else assistant())
    for number in range(1, 11):
        leaf = Conversation.objects.get(pk=conversation.pk).head_seq
        begin(conversation, leaf, number)

        answered, noted = at_once(
            partial(finish, conversation, number, assistant(), usage=Usage(output=812)),
            partial(append, conversation, user("operator's note")),
        )

        top = Message.objects.filter(conversation=conversation).count()
        assert sorted([answered.message_seq, noted.seq]) == [top - 1, top]
        assert Generation.objects.get(number=number).output_tokens == 812
        # The turn is closed before the next round, so that the note hangs below an answer.
        append(conversation, assistant())
    assert_well_formed(conversation.pk)


def test_three_results_at_once_each_find_their_place(conversation):
    append(conversation, user())
    append(conversation, calls("call_0", "call_1", "call_2"))

    answered = at_once(
        *[
            partial(
                answer_calls,
                conversation_id=conversation.pk,
                message=results(f"call_{n}"),
                actor=CUSTOMER,
                now=NOW,
            )
            for n in range(3)
        ]
    )

    assert sorted(one.seq for one in answered) == [3, 4, 5]
    append(conversation, assistant())
    assert_well_formed(conversation.pk)


def test_all_kinds_of_writers_at_once(conversation):
    append(conversation, user("root"))
    append(conversation, assistant("first answer"))
    for number in range(1, 5):
        begin(conversation, 1, number)
    writers = [
        *[
            partial(append, conversation, user(f"u{n}", client_message_id=f"m-{n % 4}"), below=2)
            for n in range(8)
        ],
        *[
            partial(
                edit_message,
                conversation_id=conversation.pk,
                seq=1,
                message=user(f"edit {n}"),
                actor=CUSTOMER,
                now=NOW,
            )
            for n in range(6)
        ],
        *[
            partial(
                regenerate_message,
                conversation_id=conversation.pk,
                seq=2,
                message=assistant(f"again {n}"),
                actor=CUSTOMER,
                now=NOW,
            )
            for n in range(6)
        ],
        *[
            partial(switch_head, conversation_id=conversation.pk, seq=1 + n % 2, actor=CUSTOMER, now=NOW)
            for n in range(6)
        ],
        *[partial(finish, conversation, number, assistant(f"g{number}")) for number in range(1, 5)],
        *[partial(begin, conversation, 2, 10) for _ in range(2)],
    ]
    assert len(writers) == WRITERS

    outcomes = at_once(*writers)

    # The client ids repeat with other words: half of those writers are told so, everybody else succeeds.
    refused = [one for one in outcomes if isinstance(one, Exception)]
    assert [error.rule for error in refused] == ["client-id-used"] * 4
    conversation.refresh_from_db()
    assert conversation.next_seq - 1 == 2 + 4 + 6 + 6 + 4
    assert conversation.next_generation - 1 == 5
    assert_well_formed(conversation.pk)


def test_a_request_begins_once(conversation):
    append(conversation, user())

    begun = at_once(*[partial(begin, conversation, 1) for _ in range(8)])

    assert Counter(is_new for _, is_new in begun) == {True: 1, False: 7}
    assert Generation.objects.filter(conversation=conversation).count() == 1
    assert_well_formed(conversation.pk)


def test_an_attempt_ends_once(conversation):
    append(conversation, user())
    begin(conversation, 1)

    ended = at_once(*[partial(finish, conversation, 1, assistant()) for _ in range(8)])

    assert {one.message_seq for one in ended} == {2}
    assert Message.objects.filter(conversation=conversation).count() == 2
    assert_well_formed(conversation.pk)


def test_one_external_ref_at_once_starts_one_conversation(account):
    started = at_once(
        *[
            partial(start_conversation, account_id=account.pk, now=NOW, external_ref="ticket-7")
            for _ in range(8)
        ]
    )

    assert len({one.pk for one in started}) == 1
    assert Conversation.objects.count() == 1


def test_one_customer_at_once_makes_one_account(realm):
    made = at_once(*[partial(ensure_account, realm=realm, external_id="c-1", now=NOW) for _ in range(8)])

    assert len({one.pk for one in made}) == 1


def test_one_fork_at_once_is_made_once(conversation):
    append(conversation, user())
    append(conversation, assistant())

    forks = at_once(
        *[
            partial(
                fork_conversation,
                conversation_id=conversation.pk,
                leaf_seq=2,
                actor=CUSTOMER,
                now=NOW,
                external_ref="fork-1",
            )
            for _ in range(4)
        ]
    )

    assert len({fork.pk for fork in forks}) == 1
    assert Conversation.objects.count() == 2
    assert MessagePart.objects.filter(conversation=forks[0]).count() == 2
    assert_well_formed(forks[0].pk)
