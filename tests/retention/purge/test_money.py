"""What still moves money keeps its conversation; money stays when its conversation goes."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event

import pytest
from django.db import connection, transaction

from ledger.models import ToolEffect
from ledger.services.detaching import detach_effects
from ledger.services.disputes import take_dispute
from ledger.services.settling import settle_absent
from tests.conversations.schema.rows import execute
from tests.ledger.made_rows import make_finding, make_run
from tests.ledger.seen import AGENT, disputed
from tests.retention.conftest import LATE, NOW, fail, remaining

pytestmark = pytest.mark.django_db


def test_an_open_effect_blocks_its_conversation(bought, run_purge):
    run = run_purge()

    assert remaining() == {bought.conversation_id}
    assert run.counts["conversations"] == {"due": 1, "open_effect": 1}


def test_money_stays_when_its_conversation_goes(bought, run_purge):
    fail(bought)

    run = run_purge()

    effect = ToolEffect.objects.get()
    assert remaining() == set()
    assert run.counts["conversations"]["effects_detached"] == 1
    assert (effect.call_seq, effect.call_id, effect.detached_standing) == (None, "toolu_1", "live")


def test_an_open_finding_blocks_its_conversation(bought, realm, run_purge):
    fail(bought)
    finding = make_finding(make_run(realm), subject=str(bought.pk), kind="abandoned", effect=bought).pk

    run = run_purge()
    assert run.counts["conversations"] == {"due": 1, "finding": 1}
    execute(
        "UPDATE ledger_finding SET state = 'resolved', resolution = 'accepted', resolved_at = now()"
        " WHERE id = %s",
        finding,
    )
    run_purge(now=LATE + timedelta(hours=6))

    assert remaining() == set()


@pytest.mark.django_db(transaction=True)
def test_a_dispute_that_is_being_written_keeps_its_conversation(bought, make_talk, run_purge):
    """Also where the effect has let go of its call already, so that nobody waits for its row."""
    make_talk()
    settle_absent(effect_id=bought.pk, sent_at=None, actor=AGENT, now=NOW)
    detach_effects(conversation_id=bought.conversation_id, now=NOW)
    is_written, may_commit = Event(), Event()

    def dispute():
        try:
            with transaction.atomic():
                take_dispute(effect_id=bought.pk, seen=disputed(), now=NOW)
                is_written.set()
                may_commit.wait(60)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(dispute)
        assert is_written.wait(60)
        run = run_purge()
        may_commit.set()
        writer.result()

    assert run.counts["conversations"]["busy"] == 1
    assert remaining() == {bought.conversation_id}
