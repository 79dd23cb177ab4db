"""What goes of a long conversation costs by its length, not by the square of it."""

from datetime import timedelta

import pytest

from conversations.models import Generation
from tests.conversations.schema.rows import execute, fetch, insert
from tests.retention.conftest import NOW, add_attempt

pytestmark = pytest.mark.django_db

TURNS = 60
_READ = "SELECT idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = %s"


@pytest.mark.parametrize("table", ["conversations_toolcall", "conversations_exchange"])
def test_attempts_go_without_a_look_at_all_that_others_of_their_conversation_made(
    talk, realm, table, run_purge
):
    for number in range(1, TURNS + 1):
        talk.says()
        seq = talk.calls(f"toolu_{number}")
        talk.answers(f"toolu_{number}")
        add_attempt(talk.id, number, message_seq=seq)
        execute("UPDATE conversations_toolcall SET generation_number = %s WHERE seq = %s", number, seq)
        insert(
            "exchange", realm_id=realm.pk, exchange_id=f"x-{number}", conversation_id=talk.id, number=number
        )
    # Plans are made by what the table holds: of an empty one, any index will do.
    execute("SET LOCAL enable_seqscan = off")
    before = fetch(_READ, table)[0][0]

    run_purge(now=NOW + timedelta(days=31))

    assert not Generation.objects.exists()
    assert fetch(_READ, table)[0][0] - before < 10 * TURNS
