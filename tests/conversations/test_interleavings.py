"""Random writers in random order, several at once: whatever they do, the tree stays whole."""

from functools import partial

import pytest
from django.db import DatabaseError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conversations.models import Message
from conversations.services.appending import append_message, edit_message, regenerate_message
from conversations.services.generations import Attempt, Outcome, begin_generation, finish_generation
from conversations.services.heads import switch_head
from conversations.services.tool_results import answer_calls
from conversations.vocabulary import Dialect, GenerationStatus
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, calls, results, user
from tests.conversations.invariants import assert_well_formed
from tests.conversations.writers import in_threads

pytestmark = pytest.mark.django_db(transaction=True)


class Writer:
    """One deed at a place that `choice` picks among what is there at that moment."""

    def __init__(self, conversation, choice):
        self.conversation = conversation
        self.choice = choice
        self.words = f"words {choice}"
        self.place = {"conversation_id": conversation.pk, "actor": CUSTOMER, "now": NOW}

    def pick(self, **condition):
        rows = Message.objects.filter(conversation=self.conversation, **condition)
        found = list(rows.order_by("seq").values_list("seq", flat=True))
        # A number that is nobody's: the deed is refused by name.
        return found[self.choice % len(found)] if found else 999

    def append(self):
        append_message(message=user(self.words, client_message_id=f"m-{self.choice % 5}"), **self.place)

    def append_below(self):
        append_message(message=assistant(self.words), below=self.pick(), **self.place)

    def call(self):
        message = calls(f"call_{self.choice % 3}", "call_x")
        append_message(message=message, below=self.pick(role="user"), **self.place)

    def answer(self):
        message = results(f"call_{self.choice % 3}", "call_x")
        answer_calls(message=message, below=self.pick(calls__isnull=False), **self.place)

    def edit(self):
        edit_message(seq=self.pick(role="user"), message=user(self.words), **self.place)

    def regenerate(self):
        regenerate_message(seq=self.pick(role="assistant"), message=assistant(self.words), **self.place)

    def switch(self):
        switch_head(seq=self.pick(), **self.place)

    def begin(self):
        attempt = Attempt(
            request_id=f"r-{self.choice % 4}",
            provider="anthropic",
            dialect=Dialect.ANTHROPIC_MESSAGES,
            requested_model="claude-sonnet-4-5",
        )
        begin_generation(conversation_id=self.conversation.pk, leaf_seq=self.pick(), attempt=attempt, now=NOW)

    def finish(self):
        outcome = Outcome(status=GenerationStatus.COMPLETE, message=assistant(self.words))
        finish_generation(number=1 + self.choice % 4, outcome=outcome, **self.place)


DEEDS = [
    Writer.append,
    Writer.append_below,
    Writer.call,
    Writer.answer,
    Writer.edit,
    Writer.regenerate,
    Writer.switch,
    Writer.begin,
    Writer.finish,
]


@given(
    queues=st.lists(
        st.lists(st.tuples(st.sampled_from(DEEDS), st.integers(0, 40)), min_size=1, max_size=6),
        min_size=2,
        max_size=4,
    )
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_interleaving_of_writers_leaves_a_whole_tree(make_conversation, queues):
    conversation = make_conversation()
    append_message(conversation_id=conversation.pk, message=user("root"), actor=CUSTOMER, now=NOW)

    outcomes = in_threads(
        [[partial(deed, Writer(conversation, choice)) for deed, choice in queue] for queue in queues]
    )

    # Who was turned away broke a rule that has a name: nobody met a deadlock or a half-written row.
    assert [one for one in outcomes if isinstance(one, DatabaseError)] == []
    assert_well_formed(conversation.pk)
