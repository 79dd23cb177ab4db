"""Each address of a conversation checks its own right."""

import pytest

from access.models import AccessEntry, Realm, StatedReason
from access.rights import RoleName
from conversations.models import ConversationNote
from tests.console.conftest import NOW
from tests.console.conversation.conftest import entries

ADDRESSES = {
    "": "read_conversations",
    "thread/?from=0&to=2": "read_conversations",
    "compare/?a=1&b=4": "read_conversations",
    "attempts/1/": "read_conversations",
    "messages/1/blocks/0/": "read_bodies",
    "messages/2/blocks/0/": "read_raw",
    "messages/2/blocks/0/file": "read_bodies",
    "messages/4/next-body/": "read_raw",
    "attempts/1/body": "read_raw",
}


@pytest.mark.parametrize("path", ADDRESSES)
def test_a_user_without_a_role_is_refused_everywhere_and_the_log_says_so(
    client, django_user_model, told, path
):
    client.force_login(django_user_model.objects.create_user("nobody", is_staff=True))

    response = client.get(f"/conversations/{told.pk}/{path}")

    assert response.status_code == 403
    assert "14C" not in response.content.decode()
    [entry] = AccessEntry.objects.all()
    assert (entry.action, entry.conversation_id) == ("refused", told.pk)


@pytest.mark.parametrize("path", ["open/", "close/", "notes/", "reveal/"])
def test_what_changes_something_is_refused_without_its_right(client, django_user_model, told, path):
    client.force_login(django_user_model.objects.create_user("nobody", is_staff=True))

    assert (
        client.post(f"/conversations/{told.pk}/{path}", {"ticket": "SUP-1", "text": "x"}).status_code == 403
    )
    assert client.get(f"/conversations/{told.pk}/{path}").status_code == 405
    assert not StatedReason.objects.exists()
    assert not ConversationNote.objects.exists()


@pytest.mark.parametrize("path", [path for path, right in ADDRESSES.items() if right == "read_raw"])
def test_raw_payloads_are_refused_to_support_even_with_a_reason(log_in, told, path):
    support = log_in(RoleName.SUPPORT)
    support.post(f"/conversations/{told.pk}/open/", {"ticket": "SUP-1"})

    response = support.get(f"/conversations/{told.pk}/{path}")

    assert response.status_code == 403
    assert entries(action="refused") != []


@pytest.mark.parametrize("path", ["messages/1/blocks/0/", "messages/2/blocks/0/", "messages/4/next-body/"])
def test_raw_payloads_stay_shut_to_an_auditor_without_a_reason(log_in, told, path):
    auditor = log_in(RoleName.AUDITOR)

    assert auditor.get(f"/conversations/{told.pk}/{path}").status_code == 403

    auditor.post(f"/conversations/{told.pk}/open/", {"ticket": "AUD-1"})
    assert auditor.get(f"/conversations/{told.pk}/{path}").status_code in (200, 409)


def test_a_conversation_of_another_realm_is_refused_and_one_that_is_not_there_is_not_found(log_in, told):
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    stranger = log_in(RoleName.PRIVACY_OFFICER, realms=[elsewhere])

    assert stranger.get(f"/conversations/{told.pk}/").status_code == 403
    assert stranger.get(f"/conversations/{told.pk}/messages/1/blocks/0/").status_code == 403
    assert stranger.get("/conversations/01a20dd4-a750-7f77-b9b6-ff1ddd41bb38/").status_code == 404
    assert {action for action, _, _ in entries()} == {"refused"}
