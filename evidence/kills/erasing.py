"""An erasure with many pages, and the job that goes on with requests when a hold is released."""

from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from access.models import Realm
from conversations.models import Account, Conversation
from conversations.services.accounts import ensure_account
from conversations.services.notes import write_note
from conversations.services.raw_bodies import keep_raw_body
from conversations.vocabulary import RawClass
from evidence.kills.purging import tell
from evidence.kills.rows import files, forget_realm, left_in
from evidence.kills.story import Story
from evidence.month import START
from jobs.models import JobRun, RunState
from jobs.services.starting import start_job
from retention.archiving import archive_bytes
from retention.erasure.job import ERASE, erase
from retention.erasure.steps import conversations, leftovers, raw_bodies, searching
from retention.models import ErasureRequest, LegalHold
from retention.services import erasing, taking_in
from retention.services.continuing import CONTINUE, continue_erasures
from retention.services.holds import approve_release, place_hold, request_release
from retention.vocabulary import IdentityCheck

CONVERSATIONS = 9
NOW = START + timedelta(days=50)
_numbers = count(1)


def erasure_story(realm: Realm, folder: Path) -> Story:
    return Story(
        name=ERASE,
        begin=lambda: _approve(_take_in(realm)),
        work=_work,
        outcome=lambda job: _outcome(job, realm, folder),
        forget=lambda: forget_realm(realm.pk, folder),
    )


def continuing_story(realm: Realm, folder: Path) -> Story:
    return Story(
        name=CONTINUE,
        begin=lambda: _release_one(realm),
        work=lambda run_id: continue_erasures(run_id=run_id, clock=lambda: NOW),
        outcome=_started,
        forget=lambda: _finish(realm, folder),
    )


def _take_in(realm: Realm) -> ErasureRequest:
    """A person with conversations of every kind, some archived, and somebody else beside."""
    number = next(_numbers)
    name, email = f"Quirina Killed {number}", f"killed-{number}@example.org"
    person = ensure_account(realm=realm, external_id=f"person-{number}", label=name, email=email, now=START)
    other = ensure_account(realm=realm, external_id=f"other-{number}", now=START)
    talks = [tell(person, place, at=START) for place in range(CONVERSATIONS)]
    for talk in talks[:3]:
        archive_bytes(conversation_id=talk, now=START)
    for place in range(2):
        tell(other, CONVERSATIONS + place, at=START)
    first, _ = _officers()
    for talk in talks[2:6]:
        write_note(conversation_id=talk, author=first, text=f"called {name}", now=START)
    for raw_class in (RawClass.IMPORT, RawClass.STATEMENT_LINE):
        keep_raw_body(body=f"from {email}".encode(), raw_class=raw_class, now=START)
    return taking_in.take_in(
        realm_id=realm.pk, account_ids=[person.pk], received_at=START, now=START, user=first
    )


def _approve(request: ErasureRequest) -> JobRun:
    first, second = _officers()
    erasing.check_identity(request_id=request.pk, how=IdentityCheck.DOCUMENT, user=first, now=START)
    erasing.prepare_preview(request_id=request.pk, user=first, now=START)
    return erasing.approve_erasure(request_id=request.pk, user=second, now=START)


def _release_one(realm: Realm) -> JobRun:
    """A request that a hold kept from its end, and the hold's release."""
    first, second = _officers()
    request = _take_in(realm)
    person = request.accounts.get().account_id
    held = Conversation.objects.filter(account_id=person).earliest("pk")
    hold = place_hold(conversation_id=held.pk, matter="K-1", user=first, now=START)
    erase(run_id=_approve(request).pk, clock=lambda: NOW)
    request_release(hold_id=hold.pk, user=first, now=NOW)
    approve_release(hold_id=hold.pk, user=second, now=NOW)
    return start_job(kind=CONTINUE, requested_by=("job", "kill"), now=NOW)


def _started(job: JobRun) -> tuple[Any, ...]:
    """The request was started again, once."""
    return job.state, job.counts, JobRun.objects.filter(kind=ERASE, state=RunState.QUEUED).count()


def _finish(realm: Realm, folder: Path) -> None:
    for run in JobRun.objects.filter(kind=ERASE, state=RunState.QUEUED):
        erase(run_id=run.pk, clock=lambda: NOW)
    if LegalHold.objects.filter(released_at=None).exists():
        raise LookupError("a hold is still open")
    forget_realm(realm.pk, folder)


def _work(run_id: UUID) -> None:
    # Small pages, so that there is much to be killed in between.
    conversations.PAGE = leftovers.PAGE = raw_bodies.PAGE = 2
    searching.BLOCKS, searching.RAW_BODIES = 200, 5
    erase(run_id=run_id, clock=lambda: NOW)


def _outcome(job: JobRun, realm: Realm, folder: Path) -> tuple[Any, ...]:
    request = ErasureRequest.objects.get(pk=job.scope)
    steps = [
        (step.name, step.state, step.erased, step.pseudonymised, step.kept)
        for step in request.steps.order_by("place")
    ]
    accounts = Account.objects.filter(realm=realm).count()
    return job.state, request.state, steps, accounts, left_in(realm.pk, run_id=job.pk), files(folder)


def _officers() -> tuple[User, User]:
    return (
        User.objects.get_or_create(username="kill-ann")[0],
        User.objects.get_or_create(username="kill-ben")[0],
    )
