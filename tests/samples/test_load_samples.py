"""The command that loads the sample company: on an empty database, whole or not at all."""

from datetime import datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from conversations.models import Account, Conversation, Generation
from ledger.models import ToolEffect
from samples.company import told
from samples.company.stories import dinars, fallback
from samples.company.story import Story


@pytest.fixture(autouse=True)
def two_stories(monkeypatch):
    """The command's own rules need no long thread and no wide fork."""
    monkeypatch.setattr(told, "TELLERS", (dinars.story, fallback.story))


@pytest.mark.django_db
def test_the_command_says_what_it_loaded():
    said = StringIO()

    call_command("load_samples", "--today=2026-11-30", "--crowd=2", stdout=said)

    # An imported answer has an attempt that names its model; no exchange was recorded for it.
    attempts = Generation.objects.filter(conversation__source="recorded").count()
    assert said.getvalue() == (
        f"Loaded 4 conversations, {attempts} exchanges with models, "
        "and 5 conversations from other systems' files.\n"
        f"{ToolEffect.objects.count()} effects of their tools, 0 with an outcome nobody knows.\n"
    )
    assert Conversation.objects.count() == 9


@pytest.mark.django_db
def test_a_second_run_is_refused_and_changes_nothing():
    call_command("load_samples", "--today=2026-11-30", "--crowd=0", stdout=StringIO())
    before = Generation.objects.count()

    with pytest.raises(CommandError, match="loaded into an empty one only"):
        call_command("load_samples", "--today=2026-11-30", "--crowd=0", stdout=StringIO())

    assert Generation.objects.count() == before


@pytest.mark.django_db(transaction=True)
def test_a_story_that_fails_leaves_nothing(monkeypatch):
    def broken(today: datetime) -> Story:
        story = dinars.story(today)
        story.customer = fallback.story(today).customer
        story.steps = []
        return story

    monkeypatch.setattr(told, "TELLERS", (fallback.story, broken))

    with pytest.raises(IndexError):
        call_command("load_samples", "--today=2026-11-30", "--crowd=0", stdout=StringIO())

    assert not Account.objects.exists()


@pytest.mark.django_db
def test_the_same_day_loads_the_same_rows():
    call_command("load_samples", "--today=2026-11-30", "--crowd=1", "--without-ledger", stdout=StringIO())
    first = _rows()
    Account.objects.all().delete()
    call_command("load_samples", "--today=2026-11-30", "--crowd=1", "--without-ledger", stdout=StringIO())

    assert _rows() == first


def _rows() -> list[tuple[object, ...]]:
    columns = ("conversation__external_ref", "number", "body_sha256", "message_seq", "cost_usd", "created_at")
    ordered = Generation.objects.order_by("conversation__external_ref", "number")
    return [
        tuple(bytes(v) if isinstance(v, memoryview) else v for v in row)
        for row in ordered.values_list(*columns)
    ]
