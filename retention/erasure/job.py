"""Carrying out an erasure: one step after another, each page a transaction with its checkpoint.

A step that fails is marked and the others go on, but for the one that takes conversations: by
these the steps before it find copies at providers and the words of staff, and without them never
again. The receipt is written only when every step has done all of its work. What is held makes
the request partly done: it is run again when the hold is released, and does then what it could
not do before.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from django.db import DatabaseError, transaction
from django.utils import timezone

from conversations.errors import StoreError
from jobs.models import JobRun
from jobs.services.working import Batch, Clock, work
from retention.erasure.outcome import EraseStep, Outcome
from retention.erasure.receipt import write_receipt
from retention.erasure.steps import (
    accounts,
    admin_log,
    conversations,
    counting,
    doors,
    hosted,
    job_runs,
    leftovers,
    money,
    raw_bodies,
    searching,
    words,
)
from retention.erasure.subject import read_subject
from retention.models import ErasureRequest, ErasureStep
from retention.vocabulary import RequestState, StepState

ERASE = "retention.erase"
log = structlog.get_logger(__name__)

STEPS = (
    EraseStep("doors", "Remember by keyed digests, let nothing in", doors.run),
    EraseStep("hosted", "Copies at providers", hosted.run),
    EraseStep("words", "Notes, reasons, comments", words.run),
    EraseStep(
        "conversations",
        "Conversations, messages, bytes, titles, summaries, search",
        conversations.run,
        runs_when_none_failed=True,
    ),
    EraseStep("raw_bodies", "Raw bodies, webhooks, statement and import files", raw_bodies.run),
    EraseStep("money", "Money rows detached and pseudonymised", money.run),
    EraseStep("accounts", "The account", accounts.run),
    EraseStep("job_runs", "Job parameters and reports, alerts", job_runs.run),
    EraseStep("admin_log", "Admin log, sign-in attempts", admin_log.run),
    EraseStep("leftovers", "Fragments, blobs and their files", leftovers.run),
    EraseStep("counting", "Count again", counting.run, runs_when_all_went=True),
    EraseStep(
        "searching", "Search for the identifiers in every store", searching.run, runs_when_all_went=True
    ),
)
FINISHED = (StepState.DONE, StepState.REQUESTED)


def erase(*, run_id: UUID, clock: Clock = timezone.now) -> JobRun | None:
    return work(run_id=run_id, batch=_batch, clock=clock)


def prepare_steps(request: ErasureRequest) -> None:
    """Lay out the steps. What an earlier run did stays counted, and every step is taken again.

    Done once is not done for good: a conversation that was held brings its reasons, webhooks and copies
    with it, and staff go on writing in the meantime.
    """
    known = {step.place: step for step in request.steps.all()}
    for place, step in enumerate(STEPS):
        if place not in known:
            ErasureStep.objects.create(request=request, place=place, name=step.name, state=StepState.WAITING)
        else:
            known[place].state, known[place].cause, known[place].kept = StepState.WAITING, "", {}
            known[place].save(update_fields=["state", "cause", "kept"])


def _batch(run: JobRun, now: datetime) -> Batch:
    request = ErasureRequest.objects.select_for_update().get(pk=UUID(run.scope))
    place = run.cursor or {"place": 0, "after": None}
    row = request.steps.select_for_update().get(place=place["place"])
    step = STEPS[place["place"]]
    if request.state != RequestState.RUNNING:
        request.state, request.started_at = RequestState.RUNNING, request.started_at or now
        request.save(update_fields=["state", "started_at"])
    following: Any = {"place": place["place"] + 1, "after": None}
    if row.state == StepState.WAITING:
        outcome = _run(step, row, request=request, run=run, now=now, after=place["after"])
        if outcome is not None and outcome.after is not None:
            following = {"place": place["place"], "after": outcome.after}
    if following["place"] < len(STEPS):
        return Batch(cursor=following, done=following["place"] - place["place"], total=len(STEPS))
    _finish(request, now=now)
    return Batch(cursor=None, done=1, total=len(STEPS))


def _run(
    step: EraseStep, row: ErasureStep, *, request: ErasureRequest, run: JobRun, now: datetime, after: Any
) -> Outcome | None:
    """Do one page of a step and write down what it did; None where it failed or had to wait."""
    if step.runs_when_all_went and _has_left_something(request):
        _end(row, StepState.SKIPPED, cause="waits until the steps before it have done all", now=now)
        return None
    if step.runs_when_none_failed and _has_failed(request, before=row.place):
        _end(row, StepState.SKIPPED, cause="waits until the steps before it have not failed", now=now)
        return None
    subject = read_subject(request=request, now=now, run_id=run.pk)
    try:
        with transaction.atomic():
            outcome = step.run(subject, after)
    except (StoreError, DatabaseError, OSError) as error:
        # Only the kind of error: its words may quote what is to be erased.
        log.warning("erasure step failed", step=step.name, error=type(error).__name__)
        _end(row, StepState.FAILED, cause=f"{type(error).__name__}: try it again", now=now)
        return None
    _add(row, outcome)
    if outcome.after is None:
        state = StepState.SKIPPED if row.cause else outcome.state
        _end(row, state, cause=row.cause, now=now)
    else:
        row.save(update_fields=["erased", "pseudonymised", "kept", "cause"])
    return outcome


def _add(row: ErasureStep, outcome: Outcome) -> None:
    row.erased = _sum(row.erased, outcome.erased)
    row.pseudonymised = _sum(row.pseudonymised, outcome.pseudonymised)
    row.kept = _sum(row.kept, outcome.kept)
    if outcome.cause and outcome.cause not in row.cause:
        row.cause = "; ".join(filter(None, (row.cause, outcome.cause)))[:500]


def _sum(known: dict[str, int], more: dict[str, int]) -> dict[str, int]:
    return known | {store: known.get(store, 0) + number for store, number in more.items()}


def _end(row: ErasureStep, state: StepState, *, cause: str, now: datetime) -> None:
    row.state, row.cause, row.finished_at, row.attempts = state, cause, now, row.attempts + 1
    row.save()


def _has_left_something(request: ErasureRequest) -> bool:
    before = [place for place, step in enumerate(STEPS) if not step.runs_when_all_went]
    return request.steps.filter(place__in=before).exclude(state__in=FINISHED).exists()


def _has_failed(request: ErasureRequest, *, before: int) -> bool:
    return request.steps.filter(place__lt=before, state=StepState.FAILED).exists()


def _finish(request: ErasureRequest, *, now: datetime) -> None:
    if request.steps.exclude(state__in=FINISHED).exists():
        request.state = RequestState.PARTLY_DONE
        request.save(update_fields=["state"])
        return
    write_receipt(request=request, now=now)
    # From here on nobody is recognised from the request either.
    request.identifiers.update(value="")
    request.notes.update(text="")
    request.state, request.finished_at = RequestState.DONE, now
    request.save(update_fields=["state", "finished_at"])
