"""Writers of all kinds on one conversation: answers, notes, results, heads."""

from functools import partial

import pytest

from conversations.models import Conversation, Generation, Message
from conversations.services.appending import edit_message, regenerate_message
from conversations.services.heads import switch_head
from conversations.services.tool_results import answer_calls
from conversations.wire.shapes import Usage
from tests.conversations.concurrency.steps import WRITERS, append, begin, finish
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, calls, results, user
from tests.conversations.invariants import assert_well_formed
from tests.conversations.writers import at_once

pytestmark = pytest.mark.django_db(transaction=True)


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
