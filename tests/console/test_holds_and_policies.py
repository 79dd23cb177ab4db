"""The pages of holds and policies: who may do what, and what a change says before it is made."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from access.actors import Actor, ActorKind
from access.models import AccessEntry, Scope
from access.rights import RoleName
from access.services.keys import issue_key
from retention.models import LegalHold, RetentionPolicy
from retention.services.holds import place_hold, request_release
from retention.services.policies import propose_policy, set_policy
from tests.console.conftest import NOW

pytestmark = pytest.mark.django_db

HOLDS, POLICIES, CHANGE = "/retention/holds/", "/retention/policies/", "/retention/policies/change/"
PLACE = "/retention/holds/place/"


@pytest.fixture
def hold(make_conversation, make_staff):
    user = make_staff(RoleName.PRIVACY_OFFICER, name="petra")
    return place_hold(conversation_id=make_conversation().pk, matter="M-7", user=user, now=NOW)


def test_a_hold_is_placed_and_listed(log_in, make_conversation):
    client = log_in(RoleName.PRIVACY_OFFICER)
    target = make_conversation().pk

    client.post(PLACE, {"kind": "conversation", "target": target, "matter": "M-7", "note": "letter"})

    placed = LegalHold.objects.get()
    assert (placed.conversation_id, placed.matter, placed.placed_by.username) == (
        target,
        "M-7",
        "privacy_officer",
    )
    assert b"M-7" in client.get(HOLDS).content


def test_another_realms_conversation_cannot_be_held(log_in, make_conversation):
    client = log_in(RoleName.PRIVACY_OFFICER, realms=[])

    answer = client.post(PLACE, {"kind": "conversation", "target": make_conversation().pk, "matter": "M-7"})

    assert answer.status_code == 422
    assert not LegalHold.objects.exists()


def test_another_realms_hold_is_not_shown(log_in, hold):
    client = log_in(RoleName.PRIVACY_OFFICER, realms=[])

    assert client.get(f"{HOLDS}{hold.pk}/").status_code == 404
    assert b"M-7" not in client.get(HOLDS).content


@pytest.mark.parametrize(
    ("role", "status"), [(RoleName.SUPPORT, 403), (RoleName.FINANCE, 403), (RoleName.AUDITOR, 200)]
)
def test_who_may_see_holds(log_in, hold, role, status):
    client = log_in(role)

    assert client.get(HOLDS).status_code == status
    assert client.post(PLACE, {}).status_code == 403
    assert AccessEntry.objects.filter(action="refused").exists()


def test_a_release_takes_two_people(log_in, hold):
    first = log_in(RoleName.PRIVACY_OFFICER, name="rosa")
    second = log_in(RoleName.PRIVACY_OFFICER, name="quentin")
    first.post(f"{HOLDS}{hold.pk}/ask/", {"note": "case closed"})

    own = first.post(f"{HOLDS}{hold.pk}/decide/", {"decision": "approve"}, follow=True)
    hold.refresh_from_db()
    assert hold.is_open
    assert "hoever asked for the release cannot approve it" in own.content.decode()
    second.post(f"{HOLDS}{hold.pk}/decide/", {"decision": "approve"})

    hold.refresh_from_db()
    assert (hold.is_open, hold.released_by.username) == (False, "quentin")
    lines = AccessEntry.objects.filter(action="change", actor_id=str(hold.released_by.pk))
    assert [line.address for line in lines] == ["127.0.0.1"]


def test_a_note_that_is_too_long_is_not_dropped_without_a_word(log_in, hold):
    client = log_in(RoleName.PRIVACY_OFFICER, name="rosa")

    page = client.post(f"{HOLDS}{hold.pk}/ask/", {"note": "x" * 2_001}, follow=True).content.decode()

    hold.refresh_from_db()
    assert "Nothing was done: the note is longer than 2,000 characters" in page
    assert hold.release_requested_at is None


def test_the_page_offers_the_decision_to_the_second_person_only(log_in, hold):
    client = log_in(RoleName.PRIVACY_OFFICER, name="rosa")
    request_release(hold_id=hold.pk, user=hold.placed_by, now=NOW)
    placer = log_in(RoleName.PRIVACY_OFFICER, name="sam")
    placer.force_login(hold.placed_by)

    assert b"Release the hold" in client.get(f"{HOLDS}{hold.pk}/").content
    assert b"Release the hold" not in placer.get(f"{HOLDS}{hold.pk}/").content


def test_what_an_application_asked_is_decided_by_who_did_not_make_its_key(log_in, hold, make_conversation):
    maker = log_in(RoleName.PRIVACY_OFFICER, name="rosa")
    other = log_in(RoleName.PRIVACY_OFFICER, name="quentin")
    issued = issue_key(
        realm=make_conversation().account.realm,
        application="help desk",
        scopes=[Scope.PRIVACY],
        actor=Actor(ActorKind.STAFF, str(User.objects.get(username="rosa").pk)),
        now=NOW,
    )
    placed = place_hold(conversation_id=hold.conversation_id, matter="M-8", key=issued.key, now=NOW)
    request_release(hold_id=placed.pk, key=issued.key, now=NOW)

    assert "help desk" in maker.get(HOLDS).content.decode()
    page = maker.get(f"{HOLDS}{placed.pk}/").content.decode()
    assert page.count("help desk") == 2
    assert "or made the key that asked" in page
    assert "Release the hold" not in page
    refused = maker.post(f"{HOLDS}{placed.pk}/decide/", {"decision": "approve"}, follow=True)
    assert "hoever made the key that asked cannot approve it" in refused.content.decode()
    assert "Release the hold" in other.get(f"{HOLDS}{placed.pk}/").content.decode()
    other.post(f"{HOLDS}{placed.pk}/decide/", {"decision": "approve"})
    placed.refresh_from_db()
    assert placed.released_by.username == "quentin"


def test_the_list_of_holds_asks_the_same_of_many(
    log_in, make_conversation, make_staff, django_assert_num_queries
):
    client, user = log_in(RoleName.PRIVACY_OFFICER), make_staff(RoleName.PRIVACY_OFFICER, name="petra")
    place_hold(conversation_id=make_conversation().pk, matter="M-1", user=user, now=NOW)
    client.get(HOLDS)
    # Session, user, its realms, the rights; the holds with their people; the frame.
    with django_assert_num_queries(count_of(client)):
        client.get(HOLDS)
    for number in range(5):
        place_hold(conversation_id=make_conversation().pk, matter=f"N-{number}", user=user, now=NOW)

    with django_assert_num_queries(count_of(client)):
        client.get(HOLDS)


def count_of(client):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as seen:
        client.get(HOLDS)
    return len(seen)


def change(**given):
    return {
        "data_class": "conversation",
        "action": "purge",
        "days": 60,
        "begins_on": timezone.localdate(),
        **given,
    }


def test_a_change_is_shown_before_it_is_made(log_in, make_conversation):
    client = log_in(RoleName.PRIVACY_OFFICER)
    make_conversation(now=timezone.now() - timedelta(days=70))

    answer = client.post(CHANGE, change())

    assert answer.status_code == 200
    assert answer.context["preview"].after == {"conversation": 1}
    assert RetentionPolicy.objects.filter(data_class="conversation").count() == 1


def test_a_confirmed_change_is_in_the_history(log_in):
    client = log_in(RoleName.PRIVACY_OFFICER)

    page = client.post(CHANGE, change(confirm="yes"), follow=True)

    rule = RetentionPolicy.objects.get(days=60)
    assert (rule.set_by.username, rule.scope) == ("privacy_officer", "default")
    assert AccessEntry.objects.get(target_kind="policy").address == "127.0.0.1"
    assert b"The change is set" in page.content


def test_a_change_beyond_another_layer_names_it(log_in):
    client = log_in(RoleName.PRIVACY_OFFICER)

    answer = client.post(CHANGE, change(data_class="generation_detail", days=91, confirm="yes"))

    assert answer.status_code == 422
    assert b"limited by: conversations, everywhere" in answer.content
    assert not RetentionPolicy.objects.filter(days=91).exists()


def test_a_change_that_another_made_wrong_meanwhile_names_the_layer(log_in, monkeypatch):
    client = log_in(RoleName.PRIVACY_OFFICER)

    def propose(**given):
        """Once it is checked, somebody shortens how long conversations stay."""
        rule = propose_policy(**given)
        shorter = {"data_class": "conversation", "action": "purge", "days": 20}
        other = propose_policy(**shorter, effective_from=given["now"], now=given["now"])
        set_policy(rule=other, user=User.objects.get(), now=given["now"])
        return rule

    monkeypatch.setattr("console.views.policies.propose_policy", propose)
    answer = client.post(CHANGE, change(data_class="generation_detail", days=25, confirm="yes"))

    assert answer.status_code == 422
    assert b"limited by: conversations, everywhere" in answer.content
    assert not RetentionPolicy.objects.filter(days=25).exists()


def test_who_sees_some_realms_sets_nothing_for_everybody(log_in, realm):
    client = log_in(RoleName.PRIVACY_OFFICER, realms=[realm])

    assert client.post(CHANGE, change(confirm="yes")).status_code == 422
    client.post(CHANGE, change(confirm="yes", realm=realm.pk))

    assert [rule.realm_id for rule in RetentionPolicy.objects.filter(days=60)] == [realm.pk]


def test_an_auditor_reads_policies_and_changes_none(log_in):
    client = log_in(RoleName.AUDITOR)

    assert b"Conversations" in client.get(POLICIES).content
    assert client.post(CHANGE, change(confirm="yes")).status_code == 403
    assert RetentionPolicy.objects.count() == 10


def test_a_conversation_says_why_it_stays(log_in, hold):
    client = log_in(RoleName.AUDITOR)

    page = client.get(f"/conversations/{hold.conversation_id}/retention/").content.decode()

    assert "It stays for now: Held (" in page
    assert "M-7" in page
    assert "everywhere" in page


def test_the_officer_gets_there_from_the_conversation_and_from_the_account(
    log_in, make_conversation, account
):
    client, conversation = log_in(RoleName.PRIVACY_OFFICER), make_conversation()

    page = client.get(f"/conversations/{conversation.pk}/").content.decode()
    assert f"/conversations/{conversation.pk}/retention/" in page
    page = client.get(f"/accounts/{account.pk}/").content.decode()

    assert f"/retention/holds/place/?kind=account&amp;target={account.pk}" in page
    assert f"/accounts/{account.pk}/everything/" in page
