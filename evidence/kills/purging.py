"""The purge, with something due in every data class."""

import hashlib
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from access.actors import Actor, ActorKind
from access.models import Realm
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from conversations.drafts import MessageDraft, PartDraft
from conversations.models import Account, Blob, Fragment, Generation
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message, edit_message
from conversations.services.generations import Attempt, Outcome, begin_generation, finish_generation
from conversations.services.raw_bodies import keep_raw_body
from conversations.services.starting import start_conversation
from conversations.services.tool_results import answer_calls
from conversations.vocabulary import (
    Dialect,
    FragmentKind,
    GenerationStatus,
    PartStatus,
    PartType,
    RawClass,
    Role,
)
from conversations.wire.shapes import Usage
from evidence.kills.rows import files, forget_realm, left_in
from evidence.kills.story import Story
from evidence.month import START
from jobs.models import JobRun, RunState
from jobs.services.starting import start_job
from retention.models import RetentionPolicy, ToolRollup
from retention.purging.job import PURGE, purge

OLD, YOUNGER = 8, 10
BATCH = 2
# Days after which sealed totals and runs of jobs go here: no other proof's are as old.
AGES_AFTER = 2_000
OF_AGE = 5
NOW = START + timedelta(days=100)
SETTLED = NOW - timedelta(days=40)
CUSTOMER, AGENT = Actor(ActorKind.CUSTOMER), Actor(ActorKind.APPLICATION, "agent")
RULES = (
    ("conversation", "purge", 90),
    ("conversation_bytes", "archive", 15),
    ("abandoned_branches", "purge", 30),
    ("tool_payloads", "strip", 20),
    ("generation_detail", "purge", 10),
    ("raw_bodies", "purge", 12),
)


def story(realm: Realm, folder: Path) -> Story:
    for data_class, action, days in RULES:
        RetentionPolicy.objects.create(
            data_class=data_class,
            scope="realm",
            realm=realm,
            action=action,
            days=days,
            effective_from=START,
            set_at=START,
        )
    return Story(
        name=PURGE,
        begin=lambda: _begin(realm),
        work=_work,
        outcome=lambda job: _outcome(job, realm, folder),
        forget=lambda: _forget(realm, folder),
    )


def _begin(realm: Realm) -> JobRun:
    account = ensure_account(realm=realm, external_id="killed", now=START)
    for number in range(OLD):
        tell(account, number, at=START)
    for number in range(YOUNGER):
        tell(account, OLD + number, at=SETTLED)
    # As old as its conversation: then it is due when nothing names it any more.
    Blob.objects.update(created_at=START)
    for number in range(OF_AGE):
        _leave_what_ages(realm, number)
    return start_job(kind=PURGE, requested_by=("job", "kill"), now=NOW)


def _leave_what_ages(realm: Realm, number: int) -> None:
    """What goes by its own age: a line of the access log, a sealed total, a run of a job, a fragment."""
    long_ago = NOW - timedelta(days=AGES_AFTER + 10 + number)
    log_access(
        actor=AGENT,
        action=AccessAction.OPEN,
        target_kind=TargetKind.PAGE,
        target_id="old",
        realm_id=realm.pk,
        now=long_ago,
    )
    ToolRollup.objects.create(
        day=long_ago.date(),
        realm=realm,
        account_id=uuid4(),
        number=1,
        failed=0,
        unanswered=0,
        tool="old",
        sealed_at=long_ago,
    )
    JobRun.objects.create(
        id=uuid4(),
        kind=f"old-{number // 3}",
        state=RunState.SUCCEEDED,
        queued_at=long_ago,
        finished_at=long_ago,
        requested_by_kind="job",
    )
    body = f"unused {number}".encode()
    Fragment.objects.create(
        sha256=hashlib.sha256(body).digest(), kind=FragmentKind.TOOLS, body=body, created_at=START
    )


def tell(account: Account, number: int, *, at: datetime) -> UUID:
    """A conversation with a call, a large payload, two attempts, a branch left behind and a raw stream."""
    talk = start_conversation(account_id=account.pk, now=at, title=f"talk {number}").pk
    large = f'{{"type":"image","number":{number},"data":"{"A" * 40_000}"}}'.encode()
    asked = MessageDraft(
        Role.USER, [PartDraft(PartType.TEXT, f"question {number}"), PartDraft(PartType.IMAGE, payload=large)]
    )
    append_message(conversation_id=talk, message=asked, actor=CUSTOMER, now=at)
    _attempt(talk, 1, None, at)
    block = b'{"type":"tool_use","id":"call_0","name":"look_up","input":{"order":7}}'
    call = PartDraft(PartType.TOOL_USE, payload=block, tool_call_id="call_0", tool_name="look_up")
    _attempt(talk, 1, MessageDraft(Role.ASSISTANT, [call]), at, attempt=2)
    found = b'{"type":"tool_result","tool_use_id":"call_0","content":"on its way"}'
    result = PartDraft(PartType.TOOL_RESULT, payload=found, tool_call_id="call_0", status=PartStatus.OK)
    answer_calls(conversation_id=talk, message=MessageDraft(Role.USER, [result]), actor=AGENT, now=at)
    again = MessageDraft(Role.USER, [PartDraft(PartType.TEXT, f"or rather {number}")])
    edit_message(conversation_id=talk, seq=1, message=again, actor=CUSTOMER, now=at)
    keep_raw_body(
        body=f"raw {number}".encode(),
        raw_class=RawClass.STREAM,
        conversation_id=talk,
        account_id=account.pk,
        now=at,
    )
    return talk


def _attempt(talk: UUID, leaf: int, message: MessageDraft | None, at: datetime, *, attempt: int = 1) -> None:
    asked = Attempt(
        request_id="r-1",
        attempt=attempt,
        provider="anthropic",
        dialect=Dialect.ANTHROPIC_MESSAGES,
        requested_model="claude-sonnet-4-5",
    )
    begun, _ = begin_generation(conversation_id=talk, leaf_seq=leaf, attempt=asked, now=at)
    status = GenerationStatus.FAILED if message is None else GenerationStatus.COMPLETE
    usage = Usage(uncached_input=1_000, output=100, raw={"input_tokens": 1_000, "output_tokens": 100})
    finish_generation(
        conversation_id=talk,
        number=begun.number,
        outcome=Outcome(status, message=message, usage=usage),
        actor=AGENT,
        now=at,
    )
    Generation.objects.filter(conversation_id=talk, number=begun.number).update(
        cost_usd=Decimal("0.001"), cost_confidence="exact"
    )


def _forget(realm: Realm, folder: Path) -> None:
    JobRun.objects.filter(kind__startswith="old-").delete()
    forget_realm(realm.pk, folder)


def _work(run_id: UUID) -> None:
    purge(run_id=run_id, clock=lambda: NOW, batch_size=BATCH, load_percent=100)


def _outcome(job: JobRun, realm: Realm, folder: Path) -> tuple[Any, ...]:
    if job.state != RunState.SUCCEEDED:
        raise SystemExit(f"{job.kind} ended as {job.state}: {job.error_code} {job.error}")
    # A file's size after compression depends on the conversation's id.
    counts = {
        step: {name: number for name, number in counted.items() if name != "file_bytes"}
        for step, counted in job.counts.items()
    }
    return counts, job.done, left_in(realm.pk, run_id=job.pk), files(folder)
