"""Nobody finds what they may not see."""

from access.models import AccessEntry, Realm
from access.rights import RoleName
from conversations.services.accounts import ensure_account
from conversations.services.starting import start_conversation
from tests.console.conftest import NOW
from tests.console.search.conftest import CALL, find


def test_a_realm_that_is_not_seen_is_not_found(log_in, realm, talk):
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    stranger = ensure_account(realm=elsewhere, external_id="x-1", email="s@example.com", now=NOW)
    hidden = start_conversation(account_id=stranger.pk, now=NOW, title="Theirs")
    client = log_in(RoleName.SUPPORT, realms=[realm])

    assert find(client, str(hidden.pk)).context["exact"].places == []
    assert find(client, "s@example.com").context["exact"].places == []
    assert find(client, CALL).status_code == 302


def test_who_may_not_read_conversations_is_refused(client, django_user_model):
    assert client.get("/search/?q=x").status_code == 302

    client.force_login(django_user_model.objects.create_user("nobody", is_staff=True))

    assert client.get("/search/?q=x").status_code == 403
    assert AccessEntry.objects.get().action == "refused"
