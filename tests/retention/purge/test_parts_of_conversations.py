"""Rules that take branches or bytes and leave the conversation."""

from datetime import timedelta

import pytest

from conversations.models import Generation, Message, MessagePart
from tests.retention.conftest import NOW, add_attempt, keep

pytestmark = pytest.mark.django_db


def test_only_branches_that_nobody_looks_at_go(talk, run_purge):
    keep(data_class="abandoned_branches", action="purge", days=10)
    first = talk.says("Buy plan A")
    talk.replies(below=first)
    second = talk.edits(first)
    add_attempt(talk.id, 1, leaf_seq=first, message_seq=2)

    run = run_purge(now=NOW + timedelta(days=11))

    assert list(Message.objects.values_list("seq", flat=True)) == [second]
    assert run.counts["abandoned_branches"] == {"due": 1, "message": 2, "gone": 1}
    attempt = Generation.objects.get()
    assert (attempt.leaf_seq, attempt.message_seq) == (None, None)


def test_only_the_bytes_of_tool_payloads_go(talk, run_purge):
    keep(data_class="tool_payloads", action="strip", days=10)
    talk.says()
    talk.answers("call_1", below=talk.calls("call_1"))

    run = run_purge(now=NOW + timedelta(days=11))

    states = list(MessagePart.objects.order_by("seq").values_list("type", "bytes_state"))
    assert states == [("text", "present"), ("tool_use", "stripped"), ("tool_result", "stripped")]
    assert run.counts["tool_payloads"]["messagepart_bytes"] == 2


def test_a_body_made_of_stripped_bytes_is_lost(talk, run_purge):
    keep(data_class="conversation_bytes", action="strip", days=10)
    first = talk.says()
    add_attempt(talk.id, 1, leaf_seq=first, body_proof="patched", body_patch=b"quotes")

    run_purge(now=NOW + timedelta(days=11))

    attempt = Generation.objects.get()
    assert (attempt.body_proof, attempt.body_patch) == ("lost", None)
