"""Usage, cost and statistics of tools over HTTP: the sums of the console's pages, of one realm."""

from decimal import Decimal

import pytest

from access.models import Scope
from conversations.models import Generation
from retention.purging.sealing import seal_generations
from tests.api.effects import make_conversation
from tests.console.conftest import NOW, answer, say
from tests.conversations.drafts import calls, results, user

__all__ = ["answer", "say"]

USAGE = "/api/v1/usage"
TOOLS = "/api/v1/tools/statistics"
PERIOD = {"since": "2026-03-01", "until": "2026-04-01"}
CUTS = ("day", "model", "provider", "tool", "prompt_version", "account")
# The key and its use; a transaction of its own as the reader (four); the whole and the lines of the cut.
USAGE_QUERIES, TOOLS_QUERIES = 8, 8


@pytest.fixture
def used(realm, other_realm, say, answer):
    """A failed attempt and an answer by a fallback that called a tool; and one in another realm."""
    mine, theirs = make_conversation(realm), make_conversation(other_realm)
    for conversation in (mine, theirs):
        asked = say(conversation, user())
        answer(conversation, asked, None, status="failed")
        answer(conversation, asked, calls("toolu_001"), attempt=2, served_model="claude-haiku-4-5")
        say(conversation, results("toolu_001"))
    Generation.objects.filter(conversation_id=theirs.pk).update(served_model="theirs", provider="other")
    Generation.objects.filter(number=2).update(cost_usd=Decimal("0.000000123"), cost_confidence="exact")
    return mine


def usage(client, **query):
    got = client.get(USAGE, {**PERIOD, **query})
    assert got.status_code == 200, got.content
    return got.json()


def test_the_whole_has_exact_costs_as_text(client, used):
    told = usage(client)
    assert (told["whole"]["attempts"], told["whole"]["failed"], told["sealed"]) == (2, 1, 0)
    assert (told["whole"]["input_tokens"], told["whole"]["output_tokens"]) == (2_000, 200)
    mine = Generation.objects.filter(conversation_id=used.pk)
    assert isinstance(told["whole"]["cost_usd"], str)
    assert Decimal(told["whole"]["cost_usd"]) == sum(generation.cost_usd for generation in mine)
    assert (told["since"], told["until"], told["zone"]) == (*PERIOD.values(), "UTC")


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ("day", {"2026-03-09"}),
        ("model", {"claude-haiku-4-5", "claude-sonnet-4-5"}),
        ("provider", {"anthropic"}),
        ("tool", {"get_order"}),
        ("prompt_version", {""}),
        ("account", {"cus-1"}),
    ],
)
def test_each_cut_sums_up_what_it_names(client, used, by, keys):
    told = usage(client, by=by)
    assert told["by"] == by
    assert {line["key"] for line in told["data"]} == keys
    assert {line["provider"] for line in told["data"]} == ({"anthropic"} if by == "model" else {None})
    if by != "tool":
        assert sum(line["attempts"] for line in told["data"]) == 2
        assert sum(Decimal(line["cost_usd"]) for line in told["data"]) == Decimal(told["whole"]["cost_usd"])


def test_sealed_attempts_are_in_the_sums(client, used):
    before = usage(client, by="day")
    seal_generations(conversation_ids=[used.pk], now=NOW, run_id=None)
    Generation.objects.filter(conversation_id=used.pk).delete()
    after = usage(client, by="day")
    assert after["sealed"] == 2
    assert after["whole"] == before["whole"]


@pytest.mark.parametrize("by", CUTS)
def test_another_realm_sees_its_own_sums_only(stranger, used, by):
    told = usage(stranger, by=by)
    assert told["whole"]["attempts"] == 2
    assert {line["key"] for line in usage(stranger, by="model")["data"]} == {"theirs"}


@pytest.mark.parametrize(
    "query",
    [
        {"by": "mood"},
        {"since": "x"},
        {"since": "2026-04-01"},
        {"since": "2020-01-01"},
        {"until": "9999-12-31"},
        {"until": "0001-01-01", "since": "0001-01-01"},
        {"since": "2026-03-01T00:00:00Z"},
    ],
)
def test_what_makes_no_period_is_a_400(client, query):
    assert client.get(USAGE, {**PERIOD, **query}).status_code == 400
    if "by" not in query:
        assert client.get(TOOLS, {**PERIOD, **query}).status_code == 400


def test_a_period_need_not_be_said(client, used):
    assert client.get(USAGE).json()["whole"]["attempts"] == 0
    assert client.get(TOOLS).json()["tools"] == []


def test_tools_have_their_calls_errors_and_days(client, used):
    told = client.get(TOOLS, PERIOD).json()
    (tool,) = told["tools"]
    assert (tool["name"], tool["calls"], tool["succeeded"], tool["failed"]) == ("get_order", 1, 0, 0)
    assert [(day["day"], day["other"]) for day in told["days"]] == [("2026-03-09", 1)]
    assert (told["errors"], told["has_more"], told["until"]) == ([], False, "2026-04-01")


def test_only_the_scope_read_sees_them(issue, client_of):
    other = client_of(issue(scopes=[Scope.WRITE, Scope.EFFECTS, Scope.PRIVACY]))
    assert other.get(USAGE).status_code == other.get(TOOLS).status_code == 403


@pytest.mark.parametrize("by", CUTS)
def test_queries_do_not_grow(client, used, say, answer, realm, by, django_assert_max_num_queries):
    for _ in range(5):
        conversation = make_conversation(realm)
        answer(conversation, say(conversation, user()), None, status="failed")
    with django_assert_max_num_queries(USAGE_QUERIES):
        usage(client, by=by)
    with django_assert_max_num_queries(TOOLS_QUERIES):
        client.get(TOOLS, PERIOD)
