"""Accounts: the list, one account, and personal details for who asks."""

import pytest
from django.contrib.auth.models import User

from access.models import AccessEntry, Realm
from access.reach import Reach
from access.reading import reading_as
from access.rights import RoleName
from console.account_pages.listing import AccountFilter, listed
from conversations.services.accounts import ensure_account
from tests.access.tenants import without_scans
from tests.console.conftest import COST, NOW
from tests.conversations.drafts import assistant, user

# The session, the user, two of permissions, the reach, the page, the header's staff; to read as the
# reader: the reach, a savepoint and its end, the role and back.
QUERIES = 12


@pytest.fixture
def make_account(realm):
    def make(name: str, **fields):
        return ensure_account(realm=realm, external_id=name, now=NOW, **fields)

    return make


def names(page) -> list[str]:
    return [row.account.external_id for row in page.context["rows"]]


def test_pages_lead_older_and_newer(log_in, make_account):
    for number in range(120):
        make_account(f"cus-{number:03}")
    client = log_in()

    first = client.get("/accounts/")
    second = client.get(f"/accounts/{first.context['older']}")
    third = client.get(f"/accounts/{second.context['older']}")
    back = client.get(f"/accounts/{third.context['newer']}")

    assert [len(names(page)) for page in (first, second, third)] == [50, 50, 20]
    assert len({*names(first), *names(second), *names(third)}) == 120
    assert names(back) == names(second)
    assert client.get("/accounts/?after=nonsense").status_code == 400


def test_queries_do_not_grow_with_the_rows(log_in, make_account, django_assert_num_queries):
    client = log_in()
    make_account("cus-0")
    client.get("/accounts/")
    with django_assert_num_queries(QUERIES):
        client.get("/accounts/")
    for number in range(1, 6):
        make_account(f"cus-{number}")
    with django_assert_num_queries(QUERIES) as captured:
        client.get("/accounts/")

    assert not [query for query in captured if "COUNT(" in query["sql"].upper()]


def test_details_are_masked_in_the_list_and_on_the_page(log_in, account):
    client = log_in()

    for address in ("/accounts/", f"/accounts/{account.pk}/"):
        page = client.get(address).content.decode()
        assert "I••• O•••••" in page
        assert "Inês" not in page
        assert "ines@" not in page


def test_a_reveal_shows_them_once_and_is_a_row(log_in, account):
    client = log_in()

    page = client.post(f"/accounts/{account.pk}/reveal/")
    part = client.post(f"/accounts/{account.pk}/reveal/", headers={"HX-Request": "true"})

    assert "ines@example.com" in page.content.decode()
    assert "<html" not in part.content.decode()
    rows = AccessEntry.objects.filter(action="reveal").values_list("target_kind", "account_id")
    assert list(rows) == [("account", account.pk)] * 2


def test_who_may_not_reveal_is_refused(log_in, account):
    assert log_in(RoleName.AUDITOR).post(f"/accounts/{account.pk}/reveal/").status_code == 403
    assert AccessEntry.objects.filter(action="reveal").count() == 0


def test_the_page_has_conversations_and_spend_for_who_sees_costs(
    log_in, account, make_conversation, say, answer, open_for
):
    conversation = make_conversation(title="Lisbon")
    answer(conversation, say(conversation, user()), assistant())

    reader = log_in(RoleName.AUDITOR, name="ada")
    open_for(User.objects.get(username="ada"), conversation)

    auditor = reader.get(f"/accounts/{account.pk}/")
    support = log_in(RoleName.SUPPORT).get(f"/accounts/{account.pk}/")

    [withheld] = support.context["overview"].conversations
    assert withheld.title == f"Conversation …{conversation.pk.hex[-6:]}"
    assert "Lisbon" not in support.content.decode()
    assert [found.title for found in auditor.context["overview"].conversations] == ["Lisbon"]
    assert (auditor.context["overview"].spend.cost, auditor.context["overview"].spend.attempts) == (COST, 1)
    assert support.context["overview"].spend is None
    assert AccessEntry.objects.filter(action="open", account_id=account.pk).count() == 2


def test_an_account_of_another_realm_is_refused_and_one_that_is_gone_is_not_found(log_in, realm, account):
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    client = log_in(realms=[elsewhere])

    assert client.get(f"/accounts/{account.pk}/").status_code == 403
    assert client.post(f"/accounts/{account.pk}/reveal/").status_code == 403
    assert names(client.get("/accounts/")) == []
    assert client.get("/accounts/00000000-0000-7000-8000-000000000000/").status_code == 404


def test_hostile_ids_and_names_are_text(log_in, make_account):
    made = make_account("<script>alert(1)</script>\u202e", label="<img src=x>", email="<b>@example.com")

    client = log_in()
    pages = [client.get("/accounts/"), client.get(f"/accounts/{made.pk}/")]

    for page in pages:
        assert "<script>alert" not in page.content.decode()
        assert "<img" not in page.content.decode()
        assert "U+202E" in page.content.decode()


def test_filters_narrow_down_and_an_empty_list_says_how_to_go_on(log_in, make_account):
    make_account("cus-1")
    make_account("org-1")
    client = log_in()

    assert names(client.get("/accounts/?begins=org")) == ["org-1"]
    assert names(client.get("/accounts/?is_closed=true")) == []
    assert "No account matches" in client.get("/accounts/?begins=%25").content.decode()


def test_a_beginning_is_read_from_the_index_under_the_policies(realm, make_account):
    for name in ("cus-1", "cus-10", "cus-2", "Cus-1", "cus_1", "cus-%"):
        make_account(name)
    reach = Reach(realm_ids=frozenset({realm.pk}))

    def begun(text):
        return AccountFilter({"begins": text}, queryset=listed(reach)).qs

    with reading_as(reach), without_scans():
        assert sorted(row.external_id for row in begun("cus-1")) == ["cus-1", "cus-10"]
        assert [row.external_id for row in begun("cus-%")] == ["cus-%"]
        plan = begun("cus-1").order_by().explain()

    assert "Index Cond: (((external_id)::text ~>=~ 'cus-1'" in plan


def test_a_customers_id_typed_in_capitals_is_offered_as_it_is_written(log_in, make_account):
    make_account("cus-1001")
    client = log_in()

    page = client.get("/search/", {"q": "CUS-1001"})

    assert page.context["exact"].places == []
    assert page.context["exact"].shouted == ["cus-1001"]
    assert 'href="/search/?q=cus-1001"' in page.content.decode()
    assert client.get("/search/", {"q": "CUS-1002"}).context["exact"].shouted == []
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    stranger = log_in(realms=[elsewhere], name="stranger")
    assert stranger.get("/search/", {"q": "CUS-1001"}).context["exact"].shouted == []
