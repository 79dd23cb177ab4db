"""Legal holds: two people, a history, and every path that would destroy."""

from datetime import timedelta

import pytest

from access.models import AccessEntry
from conversations.errors import ConflictError, NotFoundError
from retention.errors import TwoPeopleError
from retention.models import HoldEvent, HoldNote, LegalHold
from retention.services.holds import approve_release, place_hold, refuse_release, request_release
from tests.retention.conftest import LATE, NOW, remaining
from tests.retention.desk import release

pytestmark = pytest.mark.django_db


def steps_of(hold):
    return list(HoldEvent.objects.filter(hold=hold).order_by("pk").values_list("step", "by__username"))


def test_a_hold_is_released_by_a_second_person(conversation, officer, second):
    hold = place_hold(conversation_id=conversation.pk, matter="M-7", user=officer, now=NOW)
    request_release(hold_id=hold.pk, user=officer, now=NOW)

    released = approve_release(hold_id=hold.pk, user=second, now=LATE)

    assert not released.is_open
    assert steps_of(hold) == [
        ("placed", "petra"),
        ("release_requested", "petra"),
        ("released", "quentin"),
    ]


def test_whoever_asked_for_the_release_cannot_approve_it(conversation, officer):
    hold = place_hold(conversation_id=conversation.pk, matter="M-7", user=officer, now=NOW)
    request_release(hold_id=hold.pk, user=officer, now=NOW)

    with pytest.raises(TwoPeopleError):
        approve_release(hold_id=hold.pk, user=officer, now=NOW)

    assert LegalHold.objects.get().is_open


def test_a_refused_release_may_be_asked_for_again(conversation, officer, second):
    hold = place_hold(conversation_id=conversation.pk, matter="M-7", user=officer, now=NOW)
    request_release(hold_id=hold.pk, user=officer, now=NOW)
    refuse_release(hold_id=hold.pk, user=second, now=NOW, note="the case goes on")

    request_release(hold_id=hold.pk, user=second, now=LATE)

    assert [step for step, _ in steps_of(hold)] == [
        "placed",
        "release_requested",
        "release_refused",
        "release_requested",
    ]


def test_a_release_that_nobody_asked_for_is_not_approved(conversation, officer, second):
    hold = place_hold(conversation_id=conversation.pk, matter="M-7", user=officer, now=NOW)

    with pytest.raises(ConflictError):
        approve_release(hold_id=hold.pk, user=second, now=NOW)

    assert LegalHold.objects.get().is_open


def test_what_is_gone_cannot_be_held(conversation, officer):
    gone = conversation.pk
    conversation.delete()

    with pytest.raises(NotFoundError):
        place_hold(conversation_id=gone, matter="M-7", user=officer, now=NOW)

    assert not LegalHold.objects.exists()


def test_what_people_typed_stands_beside_the_history(conversation, officer):
    hold = place_hold(
        conversation_id=conversation.pk, matter="M-7", user=officer, now=NOW, note="letter of 3 May"
    )

    assert HoldNote.objects.get().text == "letter of 3 May"
    entry = AccessEntry.objects.get()
    assert (entry.action, entry.target_kind, entry.target_id) == ("change", "hold", str(hold.pk))


def test_an_effects_hold_names_its_conversation(bought, officer):
    hold = place_hold(effect_id=bought.pk, matter="M-7", user=officer, now=NOW)

    assert hold.conversation_id == bought.conversation_id


@pytest.mark.parametrize("target", ["conversation", "account"])
def test_the_purge_leaves_what_is_held_and_says_so(make_talk, account, officer, run_purge, target):
    held = make_talk()
    named = {"conversation_id": held.id} if target == "conversation" else {"account_id": account.pk}
    place_hold(**named, matter="M-7", user=officer, now=NOW)

    run = run_purge()

    assert remaining() == {held.id}
    assert run.state == "succeeded"
    assert run.counts["conversations"] == {"due": 1, "hold": 1}


def test_after_the_release_the_next_purge_takes_it(make_talk, officer, second, run_purge):
    hold = place_hold(conversation_id=make_talk().id, matter="M-7", user=officer, now=NOW)
    run_purge()
    release(hold, officer, second)

    run_purge(now=LATE + timedelta(hours=6))

    assert remaining() == set()
