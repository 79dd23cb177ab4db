"""What the tests of retention share: conversations of some age, people of the privacy office, files apart."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User

from access.actors import Actor, ActorKind
from conversations.models import Conversation
from conversations.services.appending import append_message
from jobs.models import JobRun
from jobs.services.starting import start_job
from ledger.models import ToolEffect
from retention.models import DoomedFile, RetentionPolicy
from retention.purging.job import PURGE, purge
from retention.purging.step import Ask
from retention.purging.sweeping import take_doomed_files
from tests.conversations.conftest import NOW, account, conversation, make_account, make_conversation, realm
from tests.conversations.drafts import user
from tests.conversations.schema.rows import execute, insert
from tests.ledger.conftest import Talk, bought, charge_card, register, talk

__all__ = [
    "NOW",
    "Talk",
    "account",
    "bought",
    "charge_card",
    "conversation",
    "make_account",
    "make_conversation",
    "realm",
    "register",
    "talk",
]

CUSTOMER = Actor(ActorKind.CUSTOMER)
# The shipped policy: content goes after 90 days.
LATE = NOW + timedelta(days=90, seconds=1)


@pytest.fixture
def staff(db: None) -> Callable[[str], User]:
    return User.objects.create_user


@pytest.fixture
def officer(db: None) -> User:
    return User.objects.create_user("petra")


@pytest.fixture
def second(db: None) -> User:
    return User.objects.create_user("quentin")


@pytest.fixture
def make_talk(make_conversation: Callable[..., Conversation]) -> Callable[..., Talk]:
    """A conversation with one message; `at` is its last activity."""

    def make(*, at: datetime = NOW, words: str = "Where is my order?", **fields: Any) -> Talk:
        talk = Talk(make_conversation(now=at, **fields))
        append_message(conversation_id=talk.id, message=user(words), actor=CUSTOMER, now=at)
        return talk

    return make


@pytest.fixture
def run_purge(db: None) -> Callable[..., JobRun]:
    """Run the purge as a worker does, at one moment, and return its run."""

    def run(*, now: datetime = LATE, **given: Any) -> JobRun:
        queued = start_job(kind=PURGE, requested_by=("job", "test"), now=now, **given)
        done = purge(run_id=queued.pk, clock=lambda: now)
        assert done is not None
        done.refresh_from_db()
        return done

    return run


def remaining() -> set[UUID]:
    return set(Conversation.objects.values_list("pk", flat=True))


def sweep_files(*, stayed: timedelta = timedelta(days=1)) -> None:
    """Delete the files whose rows are gone, as the purge does when they have stayed so long."""
    late = max(DoomedFile.objects.values_list("doomed_at", flat=True), default=LATE) + stayed
    take_doomed_files(Ask(after=None, limit=1_000, now=late, run_id=UUID(int=0)))


def keep(**policy: Any) -> None:
    """A rule as the policy page writes it, in force from the beginning."""
    RetentionPolicy.objects.create(**{"scope": "default", "set_at": NOW, "effective_from": NOW, **policy})


def add_attempt(conversation: UUID, number: int = 1, **columns: Any) -> None:
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


def fail(effect: ToolEffect) -> None:
    """The processor has said no: the effect is at its end."""
    execute(
        "INSERT INTO ledger_effectmove (effect_id, number, from_state, to_state, moved_at, moved_by_kind,"
        " source, evidence_ref) VALUES (%s, 2, 'pending', 'failed', now(), 'job', 'answer', 'ch_1')",
        effect.pk,
    )
    execute("UPDATE ledger_tooleffect SET state = 'failed', move = 2")


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Any) -> Any:
    """Blobs of a test lie in a folder of its own."""
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "blobs": backend}
    return tmp_path
