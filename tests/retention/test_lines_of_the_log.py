"""What is done to what is kept stands in the access log, within the realm that it was done in."""

import pytest

from access.models import AccessEntry
from conversations.models import Account
from conversations.vocabulary import SecretKind
from ledger.services.detaching import detach_effects
from ledger.services.settling import settle_absent
from retention.archiving import archive_bytes
from retention.services.bringing_back import bring_back
from retention.services.holds import place_hold
from retention.services.redacting import redact_conversation
from tests.conversations.schema.rows import execute
from tests.ledger.seen import AGENT
from tests.retention.conftest import NOW
from tests.retention.desk import release

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("target", ["account_id", "conversation_id", "effect_id"])
def test_a_hold_stands_in_the_realm_of_what_is_held(bought, realm, officer, second, target):
    held = {
        "account_id": bought.account_id,
        "conversation_id": bought.conversation_id,
        "effect_id": bought.pk,
    }

    release(place_hold(**{target: held[target]}, matter="M-7", user=officer, now=NOW), officer, second)

    assert list(AccessEntry.objects.values_list("target_kind", "realm_id")) == [("hold", realm.pk)] * 3


def test_a_hold_on_a_charge_stands_in_its_realm_when_the_conversation_is_gone(bought, realm, officer):
    settle_absent(effect_id=bought.pk, sent_at=None, actor=AGENT, now=NOW)
    detach_effects(conversation_id=bought.conversation_id, now=NOW)
    execute("DELETE FROM conversations_conversation")

    place_hold(effect_id=bought.pk, matter="M-7", user=officer, now=NOW)

    assert AccessEntry.objects.get().realm_id == realm.pk


def test_what_is_brought_back_and_cut_stands_in_its_realm(make_talk, realm, officer):
    talk = make_talk()
    archive_bytes(conversation_id=talk.id, now=NOW)

    bring_back(conversation_id=talk.id, user=officer, now=NOW)
    redact_conversation(conversation_id=talk.id, kinds=frozenset(SecretKind), user=officer, now=NOW)

    lines = AccessEntry.objects.values_list("realm_id", "conversation_id", "account_id")
    assert list(lines) == [(realm.pk, talk.id, Account.objects.get().pk)] * 2
