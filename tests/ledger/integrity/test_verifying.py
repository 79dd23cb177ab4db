"""The integrity job: it holds on what services write, and names what was broken past them."""

from uuid import UUID

import psycopg
import pytest
from django.db import connection

from access.models import Realm
from config import roles
from conversations.drafts import MessageDraft
from conversations.models import Archive
from conversations.services.appending import append_message
from conversations.vocabulary import Role
from jobs.models import JobRun
from jobs.services.starting import start_job
from ledger.integrity.archives import ARCHIVE_RULES
from ledger.integrity.rules import CONVERSATION_RULES, EFFECT_RULES
from ledger.integrity.verifying import KIND, broken_rules, verify_integrity
from ledger.models import ToolEffect
from ledger.services.refunds import take_refund
from retention.archiving import archive_bytes
from tests.conversations.conftest import NOW, account, make_account, make_conversation, realm
from tests.conversations.drafts import assistant, result
from tests.ledger.conftest import register, staff
from tests.ledger.reconciliation.conftest import begins, charge_card, pays
from tests.ledger.seen import AGENT, refunded

__all__ = [
    "account",
    "begins",
    "charge_card",
    "make_account",
    "make_conversation",
    "pays",
    "realm",
    "register",
    "staff",
]

pytestmark = pytest.mark.django_db


def verify(at_once: int = 500) -> JobRun:
    job = start_job(kind=KIND, requested_by=("job", "test"), now=NOW)
    done = verify_integrity(run_id=job.pk, at_once=at_once)
    assert done is not None
    assert done.state == "succeeded"
    return done


def test_what_the_services_write_breaks_no_rule(pays, begins):
    take_refund(effect_id=pays("ch_1").pk, seen=refunded(), actor=AGENT, now=NOW)
    whole = refunded("re_2", charge="ch_2", amount_minor=1900)
    take_refund(effect_id=pays("ch_2").pk, seen=whole, actor=AGENT, now=NOW)
    begins()

    job = verify(at_once=2)

    assert job.report["holds"]
    assert job.counts == {"checked": {"conversations": 3, "effects": 3}}
    assert set(job.report["rules"]) == {*CONVERSATION_RULES, *ARCHIVE_RULES, *EFFECT_RULES}
    assert (job.done, job.total) == (6, 6)


def test_with_nothing_stored_everything_holds(db):
    job = verify()

    assert (job.report["holds"], job.done) == (True, 0)
    assert Realm.objects.count() == 0


def test_what_was_received_broken_is_named_and_breaks_no_rule(make_conversation):
    conversation = make_conversation()
    clipped = MessageDraft(Role.TOOL, [result("toolu_T1")], client_message_id="m3")
    clipped.parts[0].orphan = True
    append_message(conversation_id=conversation.pk, message=clipped, actor=AGENT, now=NOW)
    append_message(conversation_id=conversation.pk, message=assistant("Done."), actor=AGENT, now=NOW)

    job = verify(at_once=1)

    assert job.report["holds"]
    assert job.report["received_broken"] == {
        "result-without-its-call": {"found": 1, "places": [f"{conversation.pk} #1 m3 toolu_T1"]},
        "second-call-with-one-id": {"found": 0, "places": []},
        "call-passed-over": {"found": 0, "places": []},
    }
    assert job.counts["received broken"] == {"result-without-its-call": 1}


BREAKS = {
    "head-is-the-last-logged": "UPDATE conversations_conversation SET head_move = 1",
    "numbers-stay-below-the-counter": "UPDATE conversations_conversation SET next_seq = 2",
    "head-log-has-no-gap": "DELETE FROM conversations_headmove WHERE number = 1",
    "head-log-runs-forward": (
        "UPDATE conversations_headmove SET moved_at = moved_at - interval '1 day' WHERE number = 2"
    ),
    "parent-comes-before": "DELETE FROM conversations_message WHERE seq = 1",
    "call-has-its-row": "DELETE FROM conversations_toolcall",
    "effect-has-its-call": "DELETE FROM conversations_toolcall",
    "state-is-its-last-move": "UPDATE ledger_tooleffect SET state = 'failed', external_ref = external_ref",
    "moves-have-no-gap": "DELETE FROM ledger_effectmove WHERE number = 1",
    "sums-of-compensations-agree": "UPDATE ledger_tooleffect SET amount_compensated_minor = 7",
    "whole-means-compensated": "UPDATE ledger_tooleffect SET amount_compensated_minor = 1900",
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("rule", BREAKS)
def test_what_was_broken_past_the_database_is_named(pays, admin_url, rule):
    effect = pays("ch_1")
    with psycopg.connect(_here(admin_url)) as admin:
        admin.execute("SET session_replication_role = replica")
        admin.execute(BREAKS[rule])

    found = broken_rules({**CONVERSATION_RULES, **EFFECT_RULES}, [effect.pk, effect.conversation_id])

    assert len(found[rule]) == 1
    assert UUID(found[rule][0][:36]) in (effect.pk, effect.conversation_id)


def test_an_archive_that_is_not_there_or_not_as_it_was_is_named(pays, settings, tmp_path):
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "blobs": backend}
    damaged, missing = (pays(reference).conversation_id for reference in ("ch_1", "ch_2"))
    for conversation_id in (damaged, missing):
        archive_bytes(conversation_id=conversation_id, now=NOW)
    assert verify(at_once=1).report["holds"]
    files = {pk: tmp_path / key for pk, key in Archive.objects.values_list("pk", "storage_key")}
    files[damaged].write_bytes(files[damaged].read_bytes()[:-1])
    files[missing].unlink()

    rule = verify(at_once=1).report["rules"]["archive-opens"]

    assert rule["broken"] == 2
    said = {UUID(place[:36]): place for place in rule["places"]}
    assert "checksum differs" in said[damaged]
    assert "not in blob storage" in said[missing]


@pytest.mark.django_db(transaction=True)
def test_the_report_counts_every_place_and_names_the_first(pays, admin_url):
    for number in range(3):
        pays(f"ch_{number}")
    with psycopg.connect(_here(admin_url)) as admin:
        admin.execute("SET session_replication_role = replica")
        admin.execute("UPDATE ledger_tooleffect SET amount_reserved_minor = 5")

    job = verify(at_once=2)

    rule = job.report["rules"]["sums-of-compensations-agree"]
    assert (job.report["holds"], rule["broken"], len(rule["places"])) == (False, 3, 3)
    assert job.counts["broken"] == {"sums-of-compensations-agree": 3}
    assert ToolEffect.objects.filter(amount_reserved_minor=5).count() == 3


def _here(admin_url: str) -> str:
    return roles.with_database(admin_url, str(connection.settings_dict["NAME"]))
