"""The list of conversations: filters, pages, realms, masks, its CSV, and how many queries it takes."""

import csv
import io
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import connection

from access.models import AccessEntry, Realm
from access.rights import RoleName
from conversations import filters
from conversations.models import Conversation
from conversations.services.accounts import ensure_account
from conversations.services.starting import start_conversation
from conversations.vocabulary import GenerationStatus
from tests.console.conftest import NOW
from tests.conversations.drafts import assistant, calls, results, user

# The session, the user, two of permissions, the reach, the page, its effects, the header's staff; to read
# as the reader: the reach, a savepoint and its end, the role and back; out of it and in again for the
# reasons that open titles.
QUERIES = 16


@pytest.fixture
def support(log_in):
    return log_in(RoleName.SUPPORT)


def titles(page) -> list[str]:
    return [row.conversation.title for row in page.context["rows"]]


def test_newest_activity_comes_first(support, make_conversation):
    for days in (2, 0, 1):
        make_conversation(title=f"{days} days ago", started_at=NOW - timedelta(days=days))

    page = support.get("/conversations/")

    assert titles(page) == ["0 days ago", "1 days ago", "2 days ago"]


def test_pages_lead_older_and_newer_without_counting(support, make_conversation, django_assert_num_queries):
    for hour in range(120):
        make_conversation(title=f"{hour} h ago", started_at=NOW - timedelta(hours=hour))

    first = support.get("/conversations/")
    second = support.get(f"/conversations/{first.context['older']}")
    third = support.get(f"/conversations/{second.context['older']}")
    back = support.get(f"/conversations/{third.context['newer']}")

    assert [len(titles(page)) for page in (first, second, third)] == [50, 50, 20]
    assert (first.context["newer"], third.context["older"]) == ("", "")
    assert titles(back) == titles(second)


def test_rows_of_one_moment_are_neither_lost_nor_doubled(support, make_conversation):
    ids = {make_conversation(started_at=NOW).pk for _ in range(60)}

    first = support.get("/conversations/")
    second = support.get(f"/conversations/{first.context['older']}")

    seen = [row.conversation.pk for page in (first, second) for row in page.context["rows"]]
    assert len(seen) == 60
    assert set(seen) == ids


@pytest.mark.parametrize(
    "cursor", ["nonsense", "1-2-3", "9" * 40 + "-" + "0" * 32, "%00", "-", "1-" + "z" * 32]
)
def test_a_cursor_that_never_was_one_is_refused(support, cursor):
    assert support.get(f"/conversations/?after={cursor}").status_code == 400


def test_queries_do_not_grow_with_the_rows(
    support, make_conversation, say, answer, django_assert_num_queries
):
    def fill(count: int) -> None:
        for _ in range(count):
            conversation = make_conversation()
            answer(conversation, say(conversation, user()), assistant())

    fill(4)
    support.get("/conversations/")
    with django_assert_num_queries(QUERIES):
        support.get("/conversations/")
    fill(16)
    with django_assert_num_queries(QUERIES) as captured:
        support.get("/conversations/")

    assert not [query for query in captured if "COUNT(" in query["sql"].upper()]


def test_each_filter_keeps_what_it_names(support, realm, make_conversation, say, answer):
    plain = make_conversation(title="Plain")
    told = make_conversation(title="Lisbon upgrade")
    asked = say(told, user())
    answer(told, asked, calls("toolu_1"), served_model="claude-haiku-4-5")
    say(told, results("toolu_1"))
    other = ensure_account(realm=realm, external_id="cus-2", now=NOW)
    start_conversation(account_id=other.pk, now=NOW, title="Another's")
    Conversation.objects.filter(pk=plain.pk).update(has_fork=True, replay_obstacle="foreign_format")

    def found(query: str) -> set[str]:
        return set(titles(support.get(f"/conversations/?{query}")))

    assert found("title=UPGRADE+lisbon") == {"Lisbon upgrade"}
    assert found("title=100%25") == set()
    assert found("tool=get_order") == {"Lisbon upgrade"}
    assert found("tool=%25s+'") == set()
    assert found("model=claude-haiku-4-5") == {"Lisbon upgrade"}
    assert found("model=claude-sonnet-4-5") == {"Lisbon upgrade"}
    assert found("status=complete") == {"Lisbon upgrade"}
    assert found("status=failed") == set()
    assert found("account=cus-2") == {"Another's"}
    assert found("realm=elsewhere") == set()
    assert found("has_fork=true") == {"Plain"}
    assert found("is_replayable=false") == {"Plain"}
    assert found("source=imported") == set()
    assert found("has_effect=true") == set()
    assert found(f"active_since={(NOW + timedelta(days=1)).isoformat().replace('+', '%2B')}") == set()


@pytest.mark.parametrize("rare", [1, 2_000], ids=["a common value", "a rare one"])
def test_a_common_value_and_a_rare_one_find_the_same(
    support, make_conversation, say, answer, monkeypatch, rare
):
    monkeypatch.setattr(filters, "_RARE", rare)
    told = make_conversation(title="Told")
    asked = say(told, user())
    answer(told, asked, calls("toolu_1"), status=GenerationStatus.TRUNCATED)
    again = make_conversation(title="Told again")
    asked = say(again, user())
    answer(again, asked, assistant("first"), status=GenerationStatus.TRUNCATED)
    answer(again, asked, assistant("second"), attempt=2)
    make_conversation(title="Silent")

    def found(query: str) -> set[str]:
        return set(titles(support.get(f"/conversations/?{query}")))

    assert found("status=truncated") == {"Told"}
    assert found("tool=get_order") == {"Told"}
    assert found("model=claude-sonnet-4-5") == {"Told", "Told again"}
    assert found("model=claude-sonnet-4-5&status=complete") == {"Told again"}


def test_a_filter_that_cannot_be_read_says_so_and_shows_nothing(support, make_conversation):
    make_conversation()

    page = support.get("/conversations/?active_until=yesterday&status=odd&title=%00")

    assert page.status_code == 200
    assert titles(page) == []
    assert "Write a time like 2026-11-24 14:05." in page.content.decode()


def test_a_member_of_staff_sees_the_realms_given_only(log_in, realm, make_conversation):
    make_conversation(title="Ours")
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    stranger = ensure_account(realm=elsewhere, external_id="x", now=NOW)
    start_conversation(account_id=stranger.pk, now=NOW, title="Theirs")

    assert titles(log_in(realms=[realm], name="one").get("/conversations/")) == ["Ours"]
    assert titles(log_in(realms=[], name="none").get("/conversations/")) == []


def test_names_are_masked(support, make_conversation):
    make_conversation()

    page = support.get("/conversations/").content.decode()

    assert "I••• O•••••" in page
    assert "Inês" not in page
    assert "ines@" not in page


def test_titles_are_for_who_may_read_what_was_said(log_in, make_conversation, open_for):
    """Support states a reason; until then a row says which conversation it is."""
    opened, other = make_conversation(title="Lisbon"), make_conversation(title="My divorce")
    support = log_in(RoleName.SUPPORT, name="maja")
    open_for(User.objects.get(username="maja"), opened)

    page = support.get("/conversations/")
    free = log_in(RoleName.PRIVACY_OFFICER).get("/conversations/")

    label = f"Conversation …{other.pk.hex[-6:]}"
    assert {row.title for row in page.context["rows"]} == {"Lisbon", label}
    assert "divorce" not in page.content.decode()
    assert {row.title for row in free.context["rows"]} == {"Lisbon", "My divorce"}


def test_only_who_may_read_texts_narrows_down_by_words_of_titles(log_in, make_conversation):
    make_conversation(title="My divorce")
    support = log_in(RoleName.SUPPORT)
    group = Group.objects.get(name="administrator")
    group.permissions.remove(Permission.objects.get(codename="read_bodies"))
    administrator = log_in(RoleName.ADMINISTRATOR)

    for client, kept in ((support, 0), (administrator, 1)):
        page = client.get("/conversations/?title=nothing+like+it")
        assert len(page.context["rows"]) == kept
        assert ("title" in page.context["typed"]) == (kept == 0)


def test_a_hostile_title_is_text(support, make_conversation, open_for):
    hostile = make_conversation(title='<script>alert("x")</script>\u202e<img src=x onerror=alert(1)>')

    open_for(User.objects.get(), hostile)

    page = support.get("/conversations/").content.decode()

    assert "<script>alert" not in page
    assert "<img" not in page
    assert ">U+202E</span>" in page


def test_an_empty_list_says_how_it_begins_or_how_to_widen(support, make_conversation):
    assert "Conversations appear here once" in support.get("/conversations/").content.decode()

    make_conversation()

    assert "Lift a filter" in support.get("/conversations/?title=zebra").content.decode()


def test_the_csv_is_the_filtered_list_with_cells_that_no_spreadsheet_runs(log_in, realm, make_conversation):
    account = ensure_account(realm=realm, external_id="=1+1", now=NOW)
    make_conversation(account_id=account.pk, title="Kept")
    make_conversation(title="Left out")
    auditor = log_in(RoleName.AUDITOR)

    response = auditor.get("/conversations/list.csv?title=kept")
    rows = list(csv.reader(io.StringIO(b"".join(response.streaming_content).decode("utf-8-sig"))))

    assert [row[2] for row in rows] == ["account", "'=1+1"]
    assert response["Content-Disposition"] == 'attachment; filename="conversations.csv"'
    entry = AccessEntry.objects.get(action="export")
    assert (entry.target_kind, entry.target_id) == ("list", "conversations")


@pytest.mark.parametrize(
    ("role", "address", "status"),
    [
        (RoleName.SUPPORT, "/conversations/", 200),
        (RoleName.AUDITOR, "/conversations/", 200),
        (RoleName.SUPPORT, "/conversations/list.csv", 403),
        (RoleName.FINANCE, "/conversations/list.csv", 200),
    ],
)
def test_each_address_checks_its_right(log_in, role, address, status):
    response = log_in(role).get(address)

    assert response.status_code == status
    assert AccessEntry.objects.filter(action="refused").count() == (status == 403)


def test_a_stranger_is_asked_to_log_in_and_a_user_without_a_role_is_refused(client, django_user_model):
    assert client.get("/conversations/").status_code == 302

    client.force_login(django_user_model.objects.create_user("nobody", is_staff=True))

    assert client.get("/conversations/").status_code == 403
    assert AccessEntry.objects.get().action == "refused"


@pytest.mark.django_db
def test_a_page_of_the_list_walks_its_index(support, make_conversation):
    make_conversation()
    page = Conversation.objects.order_by("-last_activity_at", "-id")[:51]

    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
    assert "conversation_activity" in page.explain()


def test_a_time_is_typed_as_the_field_shows_and_another_is_told_how(log_in):
    support = log_in()

    for typed in ("2026-11-24 14:05", "2026-11-24T14:05:00Z", "2026-11-24"):
        assert support.get("/conversations/", {"active_until": typed}).context["form"].errors == {}
    page = support.get("/conversations/", {"active_until": "yesterday"}).content.decode()

    assert "Write a time like 2026-11-24 14:05." in page
    assert 'placeholder="2026-11-24 14:05"' in page
