"""What is held or fails is named, and the request goes on when it can."""

import json

import pytest

from access.actors import Actor, ActorKind
from conversations.drafts import MessageDraft, PartDraft
from conversations.services.appending import append_message
from conversations.services.notes import write_note
from conversations.vocabulary import PartType, Role
from jobs.models import JobRun
from jobs.services.starting import start_job
from retention.erasure.job import STEPS
from retention.services.continuing import BEAT, CONTINUE, continue_erasures
from retention.services.erasing import run_again
from retention.services.holds import place_hold
from tests.conversations.schema.rows import fetch
from tests.retention.conftest import CUSTOMER, NOW, Talk, remaining
from tests.retention.desk import release, work_on
from tests.retention.erasure.conftest import NAME, states_of

pytestmark = pytest.mark.django_db


def test_what_is_held_stays_and_goes_when_the_hold_is_released(
    their_talk, person, desk, make_talk, officer, second
):
    free = make_talk(account_id=person.pk)
    hold = place_hold(conversation_id=their_talk.id, matter="M-8", user=officer, now=NOW)

    request = desk(person)
    assert free.id not in remaining()
    assert remaining() == {their_talk.id}
    assert (request.state, request.steps.get(name="conversations").cause) == ("partly_done", "Held: M-8")
    assert states_of(request)["searching"] == "skipped"

    release(hold, officer, second)
    request = work_on(
        run_again(request_id=request.pk, actor=Actor(ActorKind.STAFF, str(officer.pk)), now=NOW)
    )

    assert (request.state, remaining()) == ("done", set())
    assert json.loads(request.receipt.body)["erased"]["conversation"] == 2


def test_a_step_that_fails_is_named_and_the_others_go_on(their_talk, person, desk, monkeypatch):
    def refuses(key):
        raise OSError("the disk quotes q.sample@example.org")

    place = [step.name for step in STEPS].index("leftovers")
    keep_blob_of(their_talk)
    monkeypatch.setattr(
        "retention.erasure.steps.leftovers.blob_storage", lambda: type("S", (), {"delete": refuses})
    )
    request = desk(person)

    step = request.steps.get(place=place)
    assert (request.state, step.state, step.cause) == ("partly_done", "failed", "OSError: try it again")
    assert remaining() == set()
    monkeypatch.undo()

    request = work_on(run_again(request_id=request.pk, actor=BEAT, now=NOW))
    assert request.state == "done"


def keep_blob_of(talk: Talk) -> None:
    part = PartDraft(type=PartType.DOCUMENT, payload=b"%PDF" + b"a" * 40_000)
    message = MessageDraft(role=Role.USER, parts=[part])
    append_message(conversation_id=talk.id, message=message, actor=CUSTOMER, now=NOW)


def test_a_request_goes_on_by_itself_when_nothing_is_held(their_talk, person, desk, officer, second):
    hold = place_hold(conversation_id=their_talk.id, matter="M-8", user=officer, now=NOW)
    request = desk(person)
    assert continued() == {"requests": {"held": 1}}
    release(hold, officer, second)

    assert continued() == {"requests": {"started": 1}}
    request = work_on(JobRun.objects.get(kind="retention.erase", state="queued"))

    assert request.state == "done"


def continued():
    run = start_job(kind=CONTINUE, requested_by=("job", "beat"), now=NOW)
    continue_erasures(run_id=run.pk, clock=lambda: NOW)
    return JobRun.objects.get(pk=run.pk).counts


def test_a_note_on_a_held_conversation_stays_with_it_and_others_go(
    their_talk, person, desk, make_talk, officer, second
):
    held = make_talk(account_id=person.pk)
    for talk in (their_talk, held):
        write_note(conversation_id=talk.id, author=officer, text=f"called {NAME}", now=NOW)
    hold = place_hold(conversation_id=held.id, matter="M-8", user=officer, now=NOW)

    request = desk(person)

    step = request.steps.get(name="words")
    assert (step.state, step.erased, step.kept) == ("skipped", {"notes": 1}, {"notes": 1})
    assert fetch("SELECT text FROM conversations_conversationnote") == [(f"called {NAME}",)]
    release(hold, officer, second)
    continued()
    request = work_on(JobRun.objects.get(kind="retention.erase", state="queued"))
    assert request.state == "done"
