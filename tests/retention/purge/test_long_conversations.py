"""What goes of a long conversation costs by its length, not by the square of it."""

import pytest

from retention.purging.deleting import delete_conversations
from tests.conversations.schema.rows import execute, fetch
from tests.retention.conftest import NOW, add_attempt

pytestmark = pytest.mark.django_db

TURNS = 60
_READ = "SELECT idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'conversations_toolcall'"


def test_attempts_go_without_a_look_at_every_call_of_their_conversation(talk):
    for number in range(1, TURNS + 1):
        talk.says()
        seq = talk.calls(f"toolu_{number}")
        talk.answers(f"toolu_{number}")
        add_attempt(talk.id, number, message_seq=seq)
        execute("UPDATE conversations_toolcall SET generation_number = %s WHERE seq = %s", number, seq)
    # Plans are made by what the table holds: of an empty one, any index will do.
    execute("SET LOCAL enable_seqscan = off")
    before = fetch(_READ)[0][0]

    delete_conversations(ids=[talk.id], now=NOW, run_id=None)

    assert fetch(_READ)[0][0] - before < 10 * TURNS
