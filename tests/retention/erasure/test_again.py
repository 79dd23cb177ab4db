"""A request that was partly done is run again: what was done once is looked at again."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import OperationalError

from access.models import StatedReason
from conversations.models import Account
from retention.models import HoldNote
from retention.services.continuing import BEAT
from retention.services.erasing import run_again
from retention.services.holds import place_hold
from tests.retention.conftest import NOW, remaining
from tests.retention.desk import release, work_on
from tests.retention.erasure.conftest import EMAIL, states_of

pytestmark = pytest.mark.django_db


def test_what_staff_wrote_about_a_held_conversation_goes_once_it_is_released(
    their_talk, person, desk, officer, second
):
    talk = their_talk
    StatedReason.objects.create(
        id=talk.id,
        user=officer,
        conversation_id=talk.id,
        ticket="T-1",
        words="she called again",
        stated_at=NOW,
        valid_until=NOW,
    )
    hold = place_hold(conversation_id=talk.id, matter="M-8", user=officer, now=NOW, note="she sues us")
    request = desk(person)
    assert (request.state, StatedReason.objects.get().words) == ("partly_done", "she called again")

    release(hold, officer, second)
    request = work_on(run_again(request_id=request.pk, actor=BEAT, now=NOW))

    assert (request.state, remaining()) == ("done", set())
    assert (StatedReason.objects.get().words, HoldNote.objects.get().text) == ("", "")


def test_a_name_that_came_in_between_two_runs_does_not_stop_the_request_for_ever(
    their_talk, person, desk, officer, second
):
    hold = place_hold(conversation_id=their_talk.id, matter="M-8", user=officer, now=NOW)
    request = desk(person)
    LogEntry.objects.create(
        user=officer,
        content_type=ContentType.objects.get_for_model(Account),
        object_id=str(person.pk),
        object_repr=EMAIL,
        action_flag=2,
        change_message="Changed label",
    )

    release(hold, officer, second)
    request = work_on(run_again(request_id=request.pk, actor=BEAT, now=NOW))

    assert request.state == "done"
    assert LogEntry.objects.get().object_repr == ""


def test_conversations_wait_for_what_is_found_by_them(their_talk, person, desk, officer, monkeypatch):
    """The words could not be emptied: the database was busy."""
    StatedReason.objects.create(
        id=their_talk.id,
        user=officer,
        conversation_id=their_talk.id,
        ticket="T-1",
        words="she called again",
        stated_at=NOW,
        valid_until=NOW,
    )

    def busy(*stores):
        raise OperationalError("lock timeout")

    with monkeypatch.context() as patch:
        patch.setattr("retention.erasure.steps.words.empty_all", busy)
        request = desk(person)

    states = states_of(request)
    assert (states["words"], states["conversations"]) == ("failed", "skipped")
    assert remaining() == {their_talk.id}
    request = work_on(run_again(request_id=request.pk, actor=BEAT, now=NOW))
    assert (request.state, StatedReason.objects.get().words) == ("done", "")
