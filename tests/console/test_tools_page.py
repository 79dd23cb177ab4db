"""Tools over a period: exact counts and percentiles, errors, retries, and the calls behind each number."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.http import QueryDict

from access.models import Realm
from access.reach import Reach
from access.reading import reading_as
from access.rights import RoleName
from console.periods import read_period
from console.tool_pages.calls import CallFilter, listed
from console.tool_pages.statistics import read_statistics
from conversations.drafts import MessageDraft
from conversations.models import ToolCall
from conversations.vocabulary import Role
from retention.purging.deleting import delete_conversations
from tests.console.conftest import NOW
from tests.conversations.drafts import call, results, user

PERIOD = "from=2026-03-01&to=2026-03-31"
# The session, the user, two of permissions, the reach, three of statistics, the header's staff.
# Five more let the whole of it read as the reader, in one transaction.
QUERIES = 14


@pytest.fixture
def make_calls(make_conversation, say):
    """Calls one after another in one conversation: (tool, status, milliseconds, error, arguments)."""
    numbers = iter(range(1, 1000))

    def make(*lives, **fields):
        conversation = make_conversation(**fields)
        say(conversation, user())
        for name, status, took, error, arguments in lives:
            call_id = f"toolu_{next(numbers):04}"
            draft = MessageDraft(role=Role.ASSISTANT, parts=[call(call_id, name, arguments)])
            seq = say(conversation, draft, now=NOW)
            say(conversation, results(call_id), now=NOW)
            ToolCall.objects.filter(conversation_id=conversation.pk, seq=seq).update(
                status=status, duration_ms=took, error_code=error
            )
        return conversation

    return make


@pytest.fixture
def some_calls(make_calls):
    return make_calls(
        ("search", "failed", 900, "timeout", '{"q": 1}'),
        ("search", "succeeded", 100, "", '{"q": 1}'),
        ("search", "succeeded", 200, "", '{"q": 2}'),
        ("search", "unanswered", None, "", '{"q": 3}'),
        ("book", "failed", None, "", "{}"),
    )


def statistics(reach=None):
    return read_statistics(
        period=read_period(QueryDict(PERIOD), now=NOW), reach=reach or Reach(sees_all=True)
    )


def test_counts_errors_percentiles_and_retries_are_exact(some_calls):
    found = statistics()

    search, book = found.tools
    assert (search.name, search.calls, search.succeeded, search.failed, search.waiting) == (
        "search",
        4,
        2,
        1,
        1,
    )
    assert (search.p50, search.p95, search.retried, search.error_percent) == (200, 900, 1, "33.3 %")
    assert (book.p50, book.error_percent, book.retried) == (None, "100.0 %", 0)
    assert [(line.tool, line.code, line.calls) for line in found.errors] == [
        ("book", "", 1),
        ("search", "timeout", 1),
    ]
    assert [(day.succeeded, day.failed, day.other) for day in found.days] == [(2, 2, 1)]


def test_a_realm_that_is_not_seen_is_not_counted(some_calls):
    assert statistics(Reach()).tools == []


def test_each_number_leads_to_the_calls_behind_it(log_in, some_calls):
    support = log_in(RoleName.SUPPORT)
    page = support.get(f"/tools/?{PERIOD}").content.decode()

    def behind(query: str) -> list[str]:
        rows = support.get(f"/tools/calls/?{PERIOD}&{query}").context["rows"]
        return [row.call.name for row in rows]

    assert f"/tools/calls/?{PERIOD.replace('&', '&amp;')}&amp;tool=search&amp;status=failed" in page
    assert behind("tool=search") == ["search"] * 4
    assert behind("tool=search&status=failed") == ["search"]
    assert behind("tool=search&is_retry=true") == ["search"]
    assert behind("tool=search&slower_than=200") == ["search"] * 2
    assert behind("error=timeout") == ["search"]
    assert behind("tool=book&error=-") == ["book"]
    assert behind("from=2020-01-01&to=2020-01-02") == []


def test_calls_page_by_key_though_many_have_one_moment(log_in, make_calls, django_assert_num_queries):
    make_calls(*[("search", "succeeded", 5, "", "{}")] * 60)
    support = log_in(RoleName.SUPPORT)

    first = support.get(f"/tools/calls/?{PERIOD}")
    second = support.get(f"/tools/calls/{first.context['older']}")
    back = support.get(f"/tools/calls/{second.context['newer']}")

    ids = [[row.call.call_id for row in page.context["rows"]] for page in (first, second, back)]
    assert [len(page) for page in ids] == [50, 10, 50]
    assert len({*ids[0], *ids[1]}) == 60
    assert ids[2] == ids[0]
    for odd in ("x", "1-2-3-4", "9" * 40 + "-" + "0" * 32 + "-1-00", "1-" + "0" * 32 + "-99999999999-61"):
        assert support.get(f"/tools/calls/?after={odd}").status_code == 400


def test_a_page_of_calls_is_read_off_an_index(realm, some_calls):
    """Not sorted out of all calls of the period; only those of one moment are put in order."""
    query = QueryDict(PERIOD)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
    with reading_as(Reach(realm_ids=frozenset({realm.pk}))):
        calls = CallFilter(query, queryset=listed(Reach(sees_all=True), read_period(query, now=NOW))).qs
        plan = calls.order_by("-requested_at", "-conversation_id", "-seq", "-call_id")[:51].explain()

    assert "using toolcall_time " in plan
    assert "Incremental Sort" in plan
    assert "  Sort  " not in plan


def test_queries_do_not_grow(log_in, make_calls, some_calls, django_assert_num_queries):
    support = log_in(RoleName.SUPPORT)
    support.get(f"/tools/?{PERIOD}")
    with django_assert_num_queries(QUERIES):
        support.get(f"/tools/?{PERIOD}")
    make_calls(*[(f"tool-{number}", "failed", 1, "x", "{}") for number in range(20)])
    with django_assert_num_queries(QUERIES):
        support.get(f"/tools/?{PERIOD}")


def test_hostile_names_and_codes_are_text(log_in, make_calls):
    make_calls(("<script>alert(1)</script>", "failed", 1, "<img src=x>\u202e", "{}"))
    support = log_in(RoleName.SUPPORT)

    for address in ("/tools/", "/tools/calls/"):
        page = support.get(f"{address}?{PERIOD}").content.decode()
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "U+202E" in page


def test_who_sees_no_tools_is_refused_and_an_empty_period_says_so(log_in, realm):
    assert log_in(RoleName.PRIVACY_OFFICER).get("/tools/").status_code == 403
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW - timedelta(days=1))
    support = log_in(RoleName.SUPPORT, realms=[elsewhere])
    assert "No tool was called" in support.get("/tools/").content.decode()
    assert support.get("/tools/?from=x&to=%00&days=-1").status_code == 200


class TestSealed:
    """Calls whose conversations went are counted by their sealed lines, and never twice."""

    LIVES = (
        ("search", "failed", 900, "timeout", '{"q": 1}'),
        ("search", "succeeded", 100, "", '{"q": 2}'),
        ("search", "succeeded", 200, "", '{"q": 3}'),
        ("search", "unanswered", None, "", '{"q": 4}'),
        ("book", "failed", None, "", "{}"),
    )

    def counts(self):
        found = statistics()
        tools = {(one.name, one.calls, one.succeeded, one.failed, one.waiting) for one in found.tools}
        return tools, found.days

    def purge(self, *conversations):
        with transaction.atomic():
            delete_conversations(ids=[one.pk for one in conversations], now=NOW, run_id=None)

    @pytest.mark.parametrize("how_many", [1, 2])
    def test_counts_are_the_same_before_and_after(self, make_calls, how_many):
        talks = [make_calls(*self.LIVES) for _ in range(2)]
        before = self.counts()

        self.purge(*talks[:how_many])

        assert self.counts() == before
        assert statistics().sealed == 5 * how_many

    def test_percentiles_are_near_what_they_were(self, make_calls):
        talks = [make_calls(*self.LIVES) for _ in range(4)]
        (exact,) = [one for one in statistics().tools if one.name == "search"]

        self.purge(*talks[:2])

        (near,) = [one for one in statistics().tools if one.name == "search"]
        assert abs(near.p50 - exact.p50) <= exact.p50 / 12
        assert abs(near.p95 - exact.p95) <= exact.p95 / 12
        (book,) = [one for one in statistics().tools if one.name == "book"]
        assert (book.p50, book.p95) == (None, None)

    def test_the_page_says_so(self, log_in, make_calls):
        self.purge(make_calls(*self.LIVES))

        page = log_in(RoleName.SUPPORT).get(f"/tools/?{PERIOD}").content.decode()

        assert "5 of these calls are known by their sealed totals only" in page

    def test_a_realm_that_is_not_seen_is_not_counted(self, make_calls):
        self.purge(make_calls(*self.LIVES))

        assert statistics(Reach()).tools == []
