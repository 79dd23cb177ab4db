"""Policies: what is refused, and by which layer; the history; what a change would take."""

from datetime import timedelta

import pytest

from access.models import AccessEntry, Realm
from retention.errors import PolicyError
from retention.layers import load_layers
from retention.models import RetentionPolicy
from retention.services.policies import propose_policy, set_policy
from retention.services.previewing import preview_policy
from retention.standing import standing_of
from retention.vocabulary import DataClass
from tests.retention.conftest import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def put(officer):
    """Set a rule as the page does: proposed, then confirmed."""

    def set_one(data_class="conversation", action="purge", days=None, at=NOW, **given):
        rule = propose_policy(
            data_class=data_class, action=action, days=days, effective_from=at, now=NOW, **given
        )
        return set_policy(rule=rule, user=officer, now=NOW)

    return set_one


def refusal(put, **given):
    before = RetentionPolicy.objects.count()
    with pytest.raises(PolicyError) as caught:
        put(**given)
    assert RetentionPolicy.objects.count() == before
    return caught.value.rule, caught.value.place


def test_a_change_is_a_new_row_with_its_person(put, officer):
    put(days=60, at=NOW + timedelta(days=7))

    rules = RetentionPolicy.objects.filter(data_class="conversation").order_by("pk")
    assert [(rule.days, rule.set_by) for rule in rules] == [(90, None), (60, officer)]
    assert AccessEntry.objects.get().target_kind == "policy"


def test_a_change_begins_at_its_date(put):
    begins = NOW + timedelta(days=7)
    put(days=60, at=begins)

    before = load_layers(data_class=DataClass.CONVERSATION, now=begins - timedelta(seconds=1))
    assert before.default.days == 90
    assert load_layers(data_class=DataClass.CONVERSATION, now=begins).default.days == 60


def test_a_realm_below_the_floor_is_refused_by_the_layer_above(put, realm):
    put(days=60, floor_days=45)

    assert refusal(put, days=44, realm_id=realm.pk) == ("below-floor", "everywhere")


def test_an_account_above_its_realms_ceiling_is_refused_by_the_realm(put, realm, account):
    put(days=60, realm_id=realm.pk, ceiling_days=70)

    assert refusal(put, days=71, account_id=account.pk) == ("above-ceiling", f"realm {realm.pk}")
    assert refusal(put, action="keep", account_id=account.pk) == ("above-ceiling", f"realm {realm.pk}")


def test_a_bound_that_a_narrower_layer_breaks_is_refused(put, realm, account):
    put(days=20, account_id=account.pk)

    assert refusal(put, days=60, floor_days=30) == ("below-floor", "everywhere")


def test_detail_never_outlives_content(put):
    assert refusal(put, data_class="generation_detail", days=91) == (
        "longer-than-content",
        "conversations, everywhere",
    )


def test_the_access_log_keeps_its_owners_floor(put):
    assert refusal(put, data_class="access_log", days=364) == ("below-floor", "the owner's floor")


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"data_class": "photographs", "days": 3}, "unknown-class"),
        ({"action": "strip", "days": 3}, "unknown-action"),
        ({"action": "purge"}, "days"),
        ({"action": "keep", "days": 3}, "days"),
        ({"days": 0}, "days"),
        ({"days": 3, "at": NOW - timedelta(seconds=1)}, "too-early"),
        ({"action": "inherit"}, "unknown-action"),
    ],
)
def test_what_is_unknown_is_refused(put, given, rule):
    assert refusal(put, **given)[0] == rule


def test_what_is_nobodys_is_set_everywhere(put, realm):
    assert refusal(put, data_class="blobs", days=3, realm_id=realm.pk)[0] == "only-everywhere"


def test_a_narrower_rule_can_be_taken_back(put, realm, make_talk):
    talk = make_talk()
    put(days=60, realm_id=realm.pk)
    put(action="inherit", realm_id=realm.pk)

    assert standing_of(conversation_id=talk.id, now=NOW).goes_at == NOW + timedelta(days=90)


def test_a_conversation_says_what_goes_next_and_why_not_yet(put, bought, realm):
    put(data_class="tool_payloads", action="strip", days=20, realm_id=realm.pk)

    standing = standing_of(conversation_id=bought.conversation_id, now=NOW)

    assert standing.next.data_class == "tool_payloads"
    assert (standing.next.due_at, standing.next.effective.layer) == (
        NOW + timedelta(days=20),
        f"realm {realm.pk}",
    )
    assert [(one.kind, one.what) for one in standing.blockers] == [("open_effect", str(bought.pk))]
    assert standing.is_blocked(DataClass.CONVERSATION)
    assert not standing.is_blocked(DataClass.TOOL_PAYLOADS)


def test_a_change_shows_what_it_will_take(put, make_talk, realm, officer):
    talks = [make_talk(at=NOW - timedelta(days=days)) for days in (50, 70, 89)]
    rule = propose_policy(
        data_class="conversation",
        action="purge",
        days=60,
        realm_id=realm.pk,
        effective_from=NOW,
        now=NOW,
    )

    preview = preview_policy(rule=rule)

    assert preview.before == {}
    assert preview.after == {"conversation": 2, "message": 2, "messagepart": 2, "headmove": 2}
    assert preview.samples == [talks[2].id, talks[1].id]
    assert RetentionPolicy.objects.filter(scope="realm").count() == 0


def test_a_preview_of_a_longer_time_shows_what_is_saved(put, make_talk):
    make_talk(at=NOW - timedelta(days=95))
    rule = propose_policy(data_class="conversation", action="purge", days=120, effective_from=NOW, now=NOW)

    preview = preview_policy(rule=rule)

    assert (preview.before["conversation"], preview.after) == (1, {})


def test_a_preview_is_of_the_layer_and_names_nothing_of_another_realm(make_account, make_talk, realm):
    ours = make_talk(at=NOW - timedelta(days=40))
    elsewhere = make_account(
        external_id="x", realm=Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    )
    theirs = make_talk(account_id=elsewhere.pk, at=NOW - timedelta(days=200))
    shorter = {"data_class": "conversation", "action": "purge", "days": 30}

    def previewed(**layer):
        return preview_policy(rule=propose_policy(**shorter, **layer, effective_from=NOW, now=NOW))

    of_realm, of_account = previewed(realm_id=realm.pk), previewed(account_id=elsewhere.pk)

    assert (of_realm.before, of_realm.after["conversation"], of_realm.samples) == ({}, 1, [ours.id])
    assert (of_account.after["conversation"], of_account.samples) == (1, [theirs.id])
