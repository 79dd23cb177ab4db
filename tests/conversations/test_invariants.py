"""The checker of invariants finds what is broken: rows that no service would write."""

import pytest
from django.db import transaction

from conversations.services.appending import append_message
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import user
from tests.conversations.invariants import broken_rules
from tests.conversations.schema.conftest import add_call
from tests.conversations.schema.rows import execute, insert

pytestmark = pytest.mark.django_db


def test_a_tree_that_services_wrote_breaks_nothing(conversation):
    append_message(conversation_id=conversation.pk, message=user(), actor=CUSTOMER, now=NOW)

    assert broken_rules(conversation.pk) == {}


def test_each_broken_rule_is_named(conversation):
    with transaction.atomic():
        insert("message", conversation_id=conversation.pk, seq=2, path_digest=b"\1" * 16)
        insert("message", conversation_id=conversation.pk, seq=3, parent_seq=2, role="assistant")
        add_call(conversation.pk, seq=2, ordinal=0, call_id="call_0")
        insert("headmove", conversation_id=conversation.pk, number=1, head_seq=2)
        insert("generation", conversation_id=conversation.pk, number=2, leaf_seq=2, message_seq=2)
        execute("UPDATE conversations_conversation SET has_fork = true, next_seq = 3")
        broken = broken_rules(conversation.pk)
        # At commit the database would refuse most of it itself.
        transaction.set_rollback(True)

    assert broken == {
        "seqs run from 1 to the counter without a gap": [(1,), (3,)],
        "attempts run from 1 to the counter without a gap": [(2,)],
        "the log runs from 1 to the head's move without a gap, and ends in the head": [(1,)],
        "a fork is known, and nothing else is": [(conversation.pk,)],
        "a call has one result on every path that goes on, and at most one where it ends": [(3, "call_0", 0)],
        "an answer hangs below its attempt's leaf": [(2,)],
        "a path's digest is the chain over what was said on it": [(2,)],
    }
