"""The purge: what is due goes, what is not stays, and the run says how much."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection

from conversations.ids import mint_id
from conversations.models import Account, Conversation, Generation, Message, MessagePart
from conversations.services.heads import switch_head
from jobs.models import JobRun
from jobs.services.starting import start_job
from ledger.models import Finding, ReconciliationRun, ToolEffect
from retention.models import GenerationRollup, RetentionPolicy, ToolRollup
from retention.purging import job
from retention.purging.job import PURGE, purge
from tests.conversations.schema.rows import execute, insert
from tests.conversations.writers import at_once
from tests.retention.conftest import CUSTOMER, LATE, NOW, remaining

pytestmark = pytest.mark.django_db


def keep(**policy):
    """A rule as the policy page writes it, in force from the beginning."""
    RetentionPolicy.objects.create(**{"scope": "default", "set_at": NOW, "effective_from": NOW, **policy})


def add_attempt(conversation, number=1, **columns):
    insert(
        "generation",
        **{
            "conversation_id": conversation,
            "number": number,
            "request_id": f"r-{number}",
            "status": "complete",
            "finished_at": NOW,
            **columns,
        },
    )


def test_nothing_due(make_talk, run_purge):
    talk = make_talk()

    run = run_purge(now=NOW + timedelta(days=90))

    assert remaining() == {talk.id}
    assert (run.state, run.done, run.counts) == ("succeeded", 0, {})


def test_a_conversation_goes_after_ninety_days(make_talk, run_purge):
    make_talk()
    recent = make_talk(at=NOW + timedelta(minutes=1))

    run = run_purge()

    assert remaining() == {recent.id}
    assert run.counts["conversations"] == {
        "due": 1,
        "conversation": 1,
        "message": 1,
        "messagepart": 1,
        "headmove": 1,
        "gone": 1,
    }


def test_twice_is_once(make_talk, run_purge):
    make_talk()
    run_purge()

    again = run_purge(now=LATE + timedelta(hours=6))

    assert (again.state, again.counts) == ("succeeded", {})


def test_a_dry_run_counts_and_takes_nothing(make_talk, run_purge):
    talk = make_talk()

    run = run_purge(is_dry_run=True)

    assert remaining() == {talk.id}
    assert run.counts["conversations"]["gone"] == 1


def test_the_narrowest_layer_decides(make_account, make_talk, realm, run_purge):
    longer, kept, usual = (make_account() for _ in range(3))
    talks = {account.pk: make_talk(account_id=account.pk) for account in (longer, kept, usual)}
    rule = {"data_class": "conversation", "realm": realm}
    keep(**rule, scope="account", account_id=longer.pk, action="purge", days=200)
    keep(**rule, scope="account", account_id=kept.pk, action="keep")

    run_purge()
    assert remaining() == {talks[longer.pk].id, talks[kept.pk].id}
    run_purge(now=NOW + timedelta(days=201))

    assert remaining() == {talks[kept.pk].id}


def test_a_closed_account_starts_the_clock(make_talk, account, run_purge):
    make_talk(at=NOW + timedelta(days=60))
    Account.objects.filter(pk=account.pk).update(closed_at=NOW)

    run_purge()

    assert remaining() == set()


@pytest.mark.django_db(transaction=True)
def test_a_batch_size_of_two_goes_through_all(make_talk):
    for _ in range(5):
        make_talk()
    run = start_job(kind=PURGE, requested_by=("job", "test"), now=LATE)

    done = purge(run_id=run.pk, clock=lambda: LATE, batch_size=2)

    assert remaining() == set()
    assert done.counts["conversations"]["gone"] == 5


@pytest.mark.django_db(transaction=True)
def test_what_was_interrupted_goes_on_from_its_checkpoint(make_talk, monkeypatch):
    for _ in range(5):
        make_talk()
    run = start_job(kind=PURGE, requested_by=("job", "test"), now=LATE)
    whole, left = job.conversations.delete_conversations, [1]

    def dies_in_its_second_batch(**given):
        done = whole(**given)
        if not left:
            raise SystemExit("killed")
        left.pop()
        return done

    monkeypatch.setattr(job.conversations, "delete_conversations", dies_in_its_second_batch)
    with pytest.raises(SystemExit):
        purge(run_id=run.pk, clock=lambda: LATE, batch_size=2)
    assert len(remaining()) == 3
    monkeypatch.undo()
    JobRun.objects.filter(pk=run.pk).update(state="queued", claim_token=None, lease_until=None)

    done = purge(run_id=run.pk, clock=lambda: LATE, batch_size=2)

    assert remaining() == set()
    assert done.counts["conversations"]["gone"] == 5


@pytest.mark.django_db(transaction=True)
def test_two_at_once_take_each_conversation_once(make_talk):
    for _ in range(12):
        make_talk()
    runs = [start_job(kind=PURGE, scope=scope, requested_by=("job", scope), now=LATE) for scope in "ab"]

    at_once(*(lambda run=run: purge(run_id=run.pk, clock=lambda: LATE, batch_size=2) for run in runs))

    assert remaining() == set()
    gone = [JobRun.objects.get(pk=run.pk).counts.get("conversations", {}).get("gone", 0) for run in runs]
    assert sum(gone) == 12


def test_an_open_effect_blocks_its_conversation(bought, run_purge):
    run = run_purge()

    assert remaining() == {bought.conversation_id}
    assert run.counts["conversations"] == {"due": 1, "open_effect": 1}


def test_money_stays_when_its_conversation_goes(bought, run_purge):
    execute(
        "INSERT INTO ledger_effectmove (effect_id, number, from_state, to_state, moved_at, moved_by_kind,"
        " source, evidence_ref) VALUES (%s, 2, 'pending', 'failed', now(), 'job', 'answer', 'ch_1')",
        bought.pk,
    )
    execute("UPDATE ledger_tooleffect SET state = 'failed', move = 2")

    run = run_purge()

    effect = ToolEffect.objects.get()
    assert remaining() == set()
    assert run.counts["conversations"]["effects_detached"] == 1
    assert (effect.call_seq, effect.call_id, effect.detached_standing) == (None, "toolu_1", "live")


def test_attempts_are_sealed_before_they_go(make_talk, account, run_purge):
    talk = make_talk()
    add_attempt(talk.id, 1, output_tokens=20, cost_usd="0.000000012", cost_confidence="exact", total_ms=1000)
    add_attempt(
        talk.id, 2, output_tokens=22, cost_usd="0.000000030", cost_confidence="estimated", total_ms=1010
    )
    add_attempt(talk.id, 3, status="failed", cost_confidence="unknown", total_ms=70_000)

    run_purge(now=NOW + timedelta(days=31))

    line = GenerationRollup.objects.get()
    assert not Generation.objects.exists()
    assert (line.day, line.account_id, line.number, line.failed) == (NOW.date(), account.pk, 3, 1)
    assert (line.output_tokens, line.cost_usd) == (42, Decimal("0.000000042"))
    assert (line.cost_estimated, line.cost_unknown) == (1, 1)
    assert sorted(line.latency.values()) == [1, 2]


def test_late_attempts_are_further_lines(make_talk, run_purge):
    talk = make_talk()
    add_attempt(talk.id, 1, output_tokens=20)
    run_purge(now=NOW + timedelta(days=31))
    add_attempt(talk.id, 2, output_tokens=22)

    run_purge()

    assert [line.output_tokens for line in GenerationRollup.objects.order_by("pk")] == [20, 22]


def test_calls_are_sealed_with_their_conversation(talk, run_purge):
    talk.says()
    talk.answers("call_1", below=talk.calls("call_1"))

    run_purge()

    line = ToolRollup.objects.get()
    assert (line.tool, line.number, line.failed) == ("charge_card", 1, 0)


def test_an_open_attempt_keeps_its_row(make_talk, run_purge):
    talk = make_talk()
    add_attempt(talk.id, 1, status="streaming", finished_at=None)

    run_purge(now=NOW + timedelta(days=31))

    assert Generation.objects.count() == 1
    assert not GenerationRollup.objects.exists()


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


def test_a_run_that_takes_nothing_of_what_is_due_fails(make_talk, run_purge, monkeypatch):
    make_talk()
    monkeypatch.setattr("retention.purging.due.lock_conversations", lambda ids: [])

    run = run_purge()

    assert (run.state, run.error_code, run.error_place) == ("failed", "nothing-gone", "step conversations")


@pytest.mark.django_db(transaction=True)
def test_a_batch_that_is_too_slow_is_tried_with_fewer(make_talk, monkeypatch):
    """The server stops statements over many conversations, as it does with large rows."""
    for _ in range(10):
        make_talk()
    run = start_job(kind=PURGE, requested_by=("job", "test"), now=LATE)
    whole, sizes = job.conversations.delete_conversations, []

    def slow(*, ids, **given):
        sizes.append(len(ids))
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 200")
            cursor.execute("SELECT pg_sleep(%s)", [0.0 if len(ids) <= 2 else 5.0])
            cursor.execute("SET LOCAL statement_timeout = 0")
        return whole(ids=ids, **given)

    monkeypatch.setattr(job.conversations, "delete_conversations", slow)
    done = purge(run_id=run.pk, clock=lambda: LATE, batch_size=8)

    assert (done.state, remaining()) == ("succeeded", set())
    assert sizes == [8, 2, 2, 2, 2, 2, 0, 0]


def test_a_conversation_that_is_read_on_stays(make_talk, run_purge):
    """Activity counts, looking does not: moving the head is activity of its customer."""
    talk = make_talk()
    second = talk.replies()
    switch_head(conversation_id=talk.id, seq=second, actor=CUSTOMER, now=NOW + timedelta(days=1))
    Conversation.objects.filter(pk=talk.id).update(last_activity_at=NOW + timedelta(days=1))

    run_purge()

    assert remaining() == {talk.id}


def test_an_open_finding_blocks_its_conversation(bought, realm, run_purge):
    execute(
        "INSERT INTO ledger_effectmove (effect_id, number, from_state, to_state, moved_at, moved_by_kind,"
        " source, evidence_ref) VALUES (%s, 2, 'pending', 'failed', now(), 'job', 'answer', 'ch_1')",
        bought.pk,
    )
    execute("UPDATE ledger_tooleffect SET state = 'failed', move = 2")
    finding = open_finding(bought, realm)

    run = run_purge()
    assert run.counts["conversations"] == {"due": 1, "finding": 1}
    execute(
        "UPDATE ledger_finding SET state = 'resolved', resolution = 'accepted', resolved_at = now()"
        " WHERE id = %s",
        finding,
    )
    run_purge(now=LATE + timedelta(hours=6))

    assert remaining() == set()


def open_finding(effect, realm):
    run = ReconciliationRun.objects.create(
        id=effect.pk,
        realm=realm,
        processor="stripe",
        since=NOW - timedelta(days=1),
        until=NOW,
        cut_off=NOW,
        decisions_until=NOW,
        policy={},
        requested_at=NOW,
        requested_by_kind="job",
    )
    moments = dict.fromkeys(("occurred_at", "first_seen_at", "last_seen_at", "judged_as_of", "due_at"), NOW)
    finding = Finding.objects.create(
        realm=realm,
        processor="stripe",
        kind="abandoned",
        subject=str(effect.pk),
        state="open",
        effect=effect,
        first_run=run,
        last_run=run,
        **moments,
    )
    return finding.pk


class TestRunsOfJobs:
    """Beat starts thousands a day: those that have ended go by their age, failed ones later."""

    def over(self, *, at=NOW, kind="ledger.sweep", state="succeeded", **fields):
        failed = {"error_code": "x"} if state == "failed" else {}
        return JobRun.objects.create(
            id=mint_id(at),
            kind=kind,
            state=state,
            queued_at=at,
            requested_by_kind="job",
            **{"finished_at": at, **failed, **fields},
        )

    def left(self):
        return set(JobRun.objects.exclude(kind=PURGE).values_list("pk", flat=True))

    def test_they_go_after_thirty_days_but_for_the_last_of_their_kind(self, run_purge):
        self.over()
        self.over(state="stopped")
        last = self.over(at=NOW + timedelta(seconds=1))
        recent = self.over(at=LATE - timedelta(days=29), kind="ledger.pull")

        run = run_purge()

        assert self.left() == {last.pk, recent.pk}
        assert run.counts["job_runs"] == {"due": 2, "jobrun": 2, "gone": 2}

    def test_failed_ones_stay_six_times_as_long(self, run_purge):
        failed, last = self.over(state="failed"), self.over(at=NOW + timedelta(seconds=1))

        run_purge(now=NOW + timedelta(days=180))
        assert self.left() == {failed.pk, last.pk}
        run_purge(now=NOW + timedelta(days=181))

        assert self.left() == {last.pk}

    def test_what_has_not_ended_and_what_made_a_reconciliation_stay(self, run_purge, realm):
        waiting, made = self.over(state="queued", finished_at=None), self.over(kind="ledger.reconcile")
        later = NOW + timedelta(days=1)
        last = [self.over(at=later, kind=kind) for kind in ("ledger.sweep", "ledger.reconcile")]
        ReconciliationRun.objects.create(
            id=mint_id(NOW),
            realm=realm,
            processor="stripe",
            since=NOW - timedelta(days=1),
            until=NOW,
            cut_off=NOW,
            decisions_until=NOW,
            policy={},
            job=made,
            requested_at=NOW,
            requested_by_kind="job",
        )

        run_purge()

        assert self.left() == {waiting.pk, made.pk, *(one.pk for one in last)}
