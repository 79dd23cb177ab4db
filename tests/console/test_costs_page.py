"""Costs over a period: exact sums by each cut, failed and abandoned ones, CSV with every decimal, prices."""

import csv
import io
import re
from decimal import Decimal
from html import unescape

import pytest
from django.db import transaction

from access.models import AccessEntry, Realm
from access.rights import RoleName
from conversations.models import Account, Conversation, Generation
from conversations.services.appending import edit_message
from retention.models import GenerationRollup
from retention.purging.deleting import delete_conversations
from retention.purging.sealing import seal_generations
from tests.console.conftest import COST, CUSTOMER, NOW
from tests.conversations.drafts import assistant, calls, results, user

PERIOD = "from=2026-03-01&to=2026-03-31"
# The session, the user, two of permissions, the reach, the whole, days, lines, pairs, abandoned, staff.
# Five more let the whole of it read as the reader, in one transaction.
QUERIES = 16


@pytest.fixture
def auditor(log_in):
    return log_in(RoleName.AUDITOR)


@pytest.fixture
def talk(make_conversation, say, answer):
    """A failed attempt, then an answer by a fallback that called a tool."""
    conversation = make_conversation()
    asked = say(conversation, user())
    answer(conversation, asked, None, status="failed")
    answer(conversation, asked, calls("toolu_001"), attempt=2, served_model="claude-haiku-4-5")
    say(conversation, results("toolu_001"))
    return conversation


def lines(page) -> list[tuple[str, int, Decimal]]:
    return [(line.key, line.attempts, line.cost) for line in page.context["costs"].lines]


def test_the_whole_counts_failed_attempts_and_those_without_a_price(auditor, talk):
    Generation.objects.filter(number=1).update(cost_usd=Decimal("0.000000001"), cost_confidence="exact")

    whole = auditor.get(f"/costs/?{PERIOD}").context["costs"].whole

    answered = Generation.objects.get(number=2).cost_usd
    assert (whole.attempts, whole.failed, whole.unknown) == (2, 1, 0)
    assert (whole.cost, whole.failed_cost) == (answered + Decimal("0.000000001"), Decimal("0.000000001"))


def test_each_cut_sums_up_what_it_names(auditor, talk):
    costs = {generation.number: generation.cost_usd for generation in Generation.objects.all()}

    by_model = lines(auditor.get(f"/costs/?{PERIOD}"))
    by_tool = lines(auditor.get(f"/costs/?{PERIOD}&by=tool"))
    by_account = lines(auditor.get(f"/costs/?{PERIOD}&by=account"))
    by_prompt = lines(auditor.get(f"/costs/?{PERIOD}&by=prompt"))

    assert {key for key, _, _ in by_model} == {"claude-haiku-4-5", "claude-sonnet-4-5"}
    assert by_tool == [("get_order", 1, costs[2])]
    assert by_account == [("cus-1001", 2, costs[1] + costs[2])]
    assert by_prompt == [("", 2, costs[1] + costs[2])]
    assert auditor.get("/costs/?by=mood").status_code == 400


def test_what_was_asked_for_stands_beside_what_served(auditor, talk):
    pairs = auditor.get(f"/costs/?{PERIOD}").context["costs"].pairs

    assert [(pair.requested, pair.served, pair.attempts) for pair in pairs] == [
        ("claude-sonnet-4-5", "claude-haiku-4-5", 1)
    ]


def test_answers_that_nobody_sees_any_more_are_summed_up(auditor, make_conversation, say, answer):
    conversation = make_conversation()
    answer(conversation, say(conversation, user()), assistant())
    before = auditor.get(f"/costs/?{PERIOD}").context["abandoned"]
    edit_message(conversation_id=conversation.pk, seq=1, message=user("No"), actor=CUSTOMER, now=NOW)

    after = auditor.get(f"/costs/?{PERIOD}").context["abandoned"]

    assert ((before.answers, before.cost), (after.answers, after.cost)) == ((0, 0), (1, COST))


def test_the_csv_keeps_every_decimal_and_its_export_is_a_row(auditor, talk):
    Generation.objects.update(cost_usd=Decimal("0.000000123"), cost_confidence="exact")
    Generation.objects.update(served_model="=1+1")

    response = auditor.get(f"/costs/sums.csv?{PERIOD}")
    (line,) = csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode("utf-8-sig")))

    assert (line["by"], line["cost usd"], line["attempts"]) == ("'=1+1", "0.000000246", "2")
    assert AccessEntry.objects.get(action="export").target_id == "costs"


def test_queries_do_not_grow(auditor, talk, make_conversation, say, answer, django_assert_num_queries):
    auditor.get(f"/costs/?{PERIOD}")
    with django_assert_num_queries(QUERIES):
        auditor.get(f"/costs/?{PERIOD}")
    for _ in range(5):
        conversation = make_conversation()
        answer(conversation, say(conversation, user()), assistant())
    with django_assert_num_queries(QUERIES):
        auditor.get(f"/costs/?{PERIOD}")


def test_the_picture_has_a_bar_for_each_day_and_each_leads_to_its_day(auditor, talk):
    page = auditor.get(f"/costs/?{PERIOD}")

    assert len(page.context["picture"].bars) == 31
    assert "/costs/?from=2026-03-09&amp;to=2026-03-09" in page.content.decode()
    assert "style=" not in page.content.decode()


def test_price_rules_are_listed_as_the_file_has_them(auditor):
    page = auditor.get("/costs/prices/?model=claude-opus-4-6").content.decode()

    assert "anthropic/claude-opus-4-6@" in page
    assert "gpt-5" not in page
    assert "No price rule is named so" in auditor.get("/costs/prices/?model=zz").content.decode()


def test_support_sees_no_costs(log_in, talk):
    support = log_in(RoleName.SUPPORT)

    for address in ("/costs/", "/costs/sums.csv", "/costs/prices/"):
        assert support.get(address).status_code == 403
    assert AccessEntry.objects.filter(action="refused").count() == 3


class TestSealed:
    """Attempts whose detail went are counted by their sealed lines, and never twice."""

    @pytest.fixture
    def several(self, make_conversation, say, answer):
        """Conversations with answers, failures and an attempt without a price."""
        for number in range(3):
            conversation = make_conversation(title=f"talk {number}")
            asked = say(conversation, user())
            answer(conversation, asked, None, status="failed")
            answer(conversation, asked, assistant(), attempt=2, served_model="claude-haiku-4-5")
        Generation.objects.filter(number=1, conversation=conversation).update(
            cost_usd=None, cost_confidence="unknown", prompt_version="v2"
        )
        return list(Conversation.objects.order_by("pk"))

    def seen(self, auditor):
        pages = {
            by: auditor.get(f"/costs/?{PERIOD}&by={by}").context["costs"]
            for by in ("model", "prompt", "account")
        }
        return pages["model"].whole, pages["model"].days, {by: set(page.lines) for by, page in pages.items()}

    def seal(self, conversations):
        seal_generations(conversation_ids=[one.pk for one in conversations], now=NOW, run_id=None)
        Generation.objects.filter(conversation__in=conversations).delete()

    @pytest.mark.parametrize("how_many", [1, 2, 3])
    def test_totals_are_the_same_before_and_after(self, auditor, several, how_many):
        before = self.seen(auditor)

        self.seal(several[:how_many])

        assert GenerationRollup.objects.exists()
        assert self.seen(auditor) == before
        page = auditor.get(f"/costs/?{PERIOD}")
        assert page.context["costs"].sealed == 2 * how_many
        assert "known by their sealed totals only" in page.content.decode()

    def test_a_late_attempt_is_added_to_what_was_sealed(self, auditor, several, say, answer):
        self.seal(several)
        conversation = several[0]

        answer(conversation, 1, assistant("Late."), request_id="late")

        assert auditor.get(f"/costs/?{PERIOD}").context["costs"].whole.attempts == 7

    def test_a_purged_conversation_stays_in_the_sums(self, auditor, several):
        before = self.seen(auditor)

        with transaction.atomic():
            delete_conversations(ids=[one.pk for one in several], now=NOW, run_id=None)

        assert self.seen(auditor) == before

    def test_other_days_and_other_realms_are_not_counted(self, log_in, auditor, several):
        self.seal(several)

        assert auditor.get("/costs/?from=2026-02-01&to=2026-02-28").context["costs"].whole.attempts == 0
        elsewhere = log_in(RoleName.FINANCE, realms=[])
        assert elsewhere.get(f"/costs/?{PERIOD}").context["costs"].whole.attempts == 0

    def test_an_erased_account_is_not_named(self, auditor, several, account):
        self.seal(several)
        Account.objects.all().delete()

        (line,) = auditor.get(f"/costs/?{PERIOD}&by=account").context["costs"].lines

        assert (line.key, line.second, line.attempts) == ("", "wendelmere-eu", 6)


# The session, the user, two of permissions, the reach, the page, conversations, the header's staff; five to
# read as the reader, three to step out of it for the reasons that open titles.
ATTEMPT_QUERIES = 16


def links_in(page) -> list[str]:
    return re.findall(r'href="(/costs/attempts/\?[^"]*)"', page.content.decode())


@pytest.mark.parametrize("cut", ["model", "tool", "prompt", "account"])
def test_each_number_of_attempts_leads_to_exactly_those(auditor, talk, cut):
    page = auditor.get(f"/costs/?by={cut}&{PERIOD}")

    lines = page.context["lines"]

    assert len(lines) > 0
    for shown in lines:
        for url, number in (
            (shown.url, shown.line.attempts),
            (shown.failed_url, shown.line.failed),
            (shown.unpriced_url, shown.line.unknown),
        ):
            assert len(auditor.get(url).context["rows"]) == number, url


def test_the_whole_and_what_was_served_by_another_model_lead_to_their_attempts(auditor, talk):
    page = auditor.get(f"/costs/?{PERIOD}")
    whole, found = page.context["whole"], {}
    for url in links_in(page):
        rows = auditor.get(unescape(url)).context["rows"]
        found[unescape(url)] = [row.attempt.number for row in rows]

    assert found[whole.url] == [2, 1]
    assert found[whole.failed_url] == [1]
    [other] = [url for url in found if "requested=" in url]
    assert found[other] == [2]


def test_attempts_page_by_key_though_many_have_one_moment(auditor, make_conversation, say, answer):
    for _ in range(6):
        conversation = make_conversation()
        asked = say(conversation, user())
        for number in range(10):
            answer(conversation, asked, assistant(), attempt=number + 1)
    Generation.objects.update(created_at=NOW)

    first = auditor.get(f"/costs/attempts/?{PERIOD}")
    second = auditor.get(f"/costs/attempts/{first.context['older']}")
    back = auditor.get(f"/costs/attempts/{second.context['newer']}")

    def keys(page):
        return [row.attempt.pk for row in page.context["rows"]]

    assert (len(keys(first)), len(keys(second))) == (50, 10)
    assert len({*keys(first), *keys(second)}) == 60
    assert keys(back) == keys(first)
    for cursor in ("1", "1-2-3", "x-y-z", f"1-{'0' * 32}-0"):
        assert auditor.get(f"/costs/attempts/?after={cursor}").status_code == 400


def test_queries_of_attempts_do_not_grow(auditor, make_conversation, say, answer, django_assert_num_queries):
    def fill(count: int) -> None:
        for _ in range(count):
            conversation = make_conversation()
            answer(conversation, say(conversation, user()), assistant())

    fill(3)
    auditor.get(f"/costs/attempts/?{PERIOD}")
    with django_assert_num_queries(ATTEMPT_QUERIES):
        auditor.get(f"/costs/attempts/?{PERIOD}")
    fill(12)
    with django_assert_num_queries(ATTEMPT_QUERIES):
        page = auditor.get(f"/costs/attempts/?{PERIOD}")
    assert len(page.context["rows"]) == 15


def test_attempts_of_another_realm_are_not_listed(log_in, talk):
    other = Realm.objects.create(slug="other", name="Other", created_at=NOW)

    page = log_in(RoleName.AUDITOR, realms=[other], name="ada").get(f"/costs/attempts/?{PERIOD}")

    assert page.context["rows"] == []
    assert log_in(RoleName.SUPPORT).get("/costs/attempts/").status_code == 403
