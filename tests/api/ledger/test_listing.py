"""Effects listed, narrowed and paged."""

import pytest

from tests.api.effects import intent, make_talk, response
from tests.api.ledger.conftest import EFFECTS, begin, settle

# The key; a transaction of its own as the reader (three); the list itself, and where its effects stand.
LIST_QUERIES = 7


@pytest.fixture
def many(client, registered):
    """Effects of five conversations, oldest first; the first is settled."""
    ids = []
    for _number in range(5):
        _, message = make_talk(registered)
        ids.append(begin(client, message).json()["effect"]["id"])
    settle(client, ids[0], response(intent(ids[0])))
    return ids


def listed(client, query=""):
    answer = client.get(f"{EFFECTS}?{query}")
    assert answer.status_code == 200, answer.content
    return [row["id"] for row in answer.json()["data"]]


def test_the_list_is_paged_by_key_in_both_directions(client, many):
    newest = many[::-1]
    page = client.get(f"{EFFECTS}?limit=2").json()
    assert [row["id"] for row in page["data"]] == newest[:2]
    assert page["previous"] is None
    second = client.get(page["next"]).json()
    assert [row["id"] for row in second["data"]] == newest[2:4]
    last = client.get(second["next"]).json()
    assert ([row["id"] for row in last["data"]], last["next"]) == (newest[4:], None)
    back = client.get(second["previous"]).json()
    assert [row["id"] for row in back["data"]] == newest[:2]
    assert page["data"][0]["standing"] == "live"


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("state=applied", [0]),
        ("state=pending", [4, 3, 2, 1]),
        ("is_sent=false&state=pending", [4, 3, 2, 1]),
        ("external_ref=ch_1", [0]),
        ("external_ref=pi_1", [0]),
        ("external_ref=pi_2", []),
        ("tool=charge_card&account=cus-1", [4, 3, 2, 1, 0]),
        ("tool=other", []),
        ("account=cus-2", []),
        ("since=2026-01-01T00:00:00Z&amount=USD+19.00", [4, 3, 2, 1, 0]),
        ("until=2020-01-01T00:00:00Z", []),
        ("standing=abandoned", []),
        ("is_disputed=true", []),
    ],
)
def test_the_list_is_narrowed(client, many, query, places):
    assert listed(client, query) == [many[place] for place in places]


@pytest.mark.parametrize(
    "query",
    [
        "state=lost",
        "since=yesterday",
        "since=0001-01-01T00:00:00%2B14:00",
        "until=9999-12-31T23:59:59-14:00",
        "tool=%00",
        "amount=19",
        "conversation_id=x",
        "limit=0",
        "limit=201",
        "limit=-1",
        "limit=%D9%A1",
        "after=x",
        "after=1-2",
        "after=99999999999999999999999999-0193a1b2000070008000000000000ffff",
        "before=" + "9" * 500 + "-1",
        "after=1-" + "9" * 31,
    ],
)
def test_what_a_list_cannot_be_asked_is_a_400(client, many, query):
    answer = client.get(f"{EFFECTS}?{query}")
    assert answer.status_code in (200, 400), answer.content
    if answer.status_code == 200:
        assert query.startswith(("after=1-", "since=0001", "until=9999"))


def test_the_list_costs_the_same_however_long_it_is(client, many, django_assert_num_queries):
    client.get(EFFECTS)
    with django_assert_num_queries(LIST_QUERIES):
        client.get(f"{EFFECTS}?limit=1")
    with django_assert_num_queries(LIST_QUERIES):
        client.get(f"{EFFECTS}?limit=5")
