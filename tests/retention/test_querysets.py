"""What lies in whose realm, asked by key."""

import re

import pytest

from access.models import Realm
from access.reach import Reach
from retention.querysets import holds_within
from retention.services.holds import place_hold
from tests.access.tenants import rows, without_scans
from tests.retention.conftest import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def elsewhere(db):
    return Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)


def test_holds_are_those_on_accounts_conversations_and_effects_of_the_realm(
    bought, realm, elsewhere, make_account, make_talk, officer
):
    def held(**target):
        return place_hold(**target, matter="M-7", user=officer, now=NOW)

    ours = [held(account_id=bought.account_id), held(conversation_id=bought.conversation_id)]
    ours.append(held(effect_id=bought.pk))
    stranger = make_account(external_id="x", realm=elsewhere)
    theirs = [held(account_id=stranger.pk), held(conversation_id=make_talk(account_id=stranger.pk).id)]

    assert set(holds_within(Reach(False, frozenset({realm.pk})))) == set(ours)
    assert set(holds_within(Reach(False, frozenset({elsewhere.pk})))) == set(theirs)
    assert set(holds_within(Reach(False, frozenset()))) == set()
    assert set(holds_within(Reach(True))) == {*ours, *theirs}


def test_a_realms_holds_are_found_without_reading_its_conversations(realm):
    with without_scans():
        # On tables of a few rows a join of whole tables looks as cheap as probes.
        rows("SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)")
        plan = holds_within(Reach(False, frozenset({realm.pk}))).explain()

    assert "hashed" not in plan
    # Whichever index begins with the id; there is more than one.
    assert re.search(r" on conversations_conversation .*\n +Index Cond: \(id = ", plan), plan
