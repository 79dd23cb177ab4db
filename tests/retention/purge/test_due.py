"""Which conversations are due, and what the run says of them."""

from datetime import timedelta

import pytest

from conversations.models import Account, Conversation
from conversations.services.heads import switch_head
from tests.retention.conftest import CUSTOMER, LATE, NOW, keep, remaining

pytestmark = pytest.mark.django_db


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


def test_a_conversation_that_is_read_on_stays(make_talk, run_purge):
    """Activity counts, looking does not: moving the head is activity of its customer."""
    talk = make_talk()
    second = talk.replies()
    switch_head(conversation_id=talk.id, seq=second, actor=CUSTOMER, now=NOW + timedelta(days=1))
    Conversation.objects.filter(pk=talk.id).update(last_activity_at=NOW + timedelta(days=1))

    run_purge()

    assert remaining() == {talk.id}
