"""Attempts opened, opened again, and listed."""

import pytest

from conversations.models import RedactionSwitch
from tests.api.answers import refusal
from tests.api.conversations.talking import ROOT, attempt, end, text

pytestmark = pytest.mark.django_db


def test_attempts_are_listed_in_order_with_failed_ones(talk, opened):
    end(talk, opened, "fail", {"error_code": "overloaded"})
    talk.post("/generations", attempt())
    talk.post("/generations", attempt(leaf_id=talk.message_id(1)))
    page = talk.get("/generations?limit=2").json()
    assert [(row["number"], row["status"]) for row in page["data"]] == [(1, "failed"), (2, "streaming")]
    assert [row["number"] for row in talk.client.get(page["next"]).json()["data"]] == [3]


def test_the_number_of_queries_of_the_list_is_fixed(talk, opened, django_assert_num_queries):
    talk.get("/generations")
    # The key; the reader's transaction, role and the end of both; the conversation; its attempts.
    with django_assert_num_queries(7):
        talk.get("/generations")
    for _ in range(6):
        talk.post("/generations", attempt())
    with django_assert_num_queries(7):
        talk.get("/generations")


def test_an_attempt_needs_a_message(talk):
    answer = talk.post("/generations", attempt())
    assert refusal(answer) == (409, "no-head")
    assert talk.post("/generations", attempt(leaf_id=talk.message_id(1))).status_code == 404


def test_a_summary_that_an_attempt_names_must_be_the_conversations(talk, opened):
    answer = talk.post("/generations", attempt(summary_id="01920000-0000-7000-8000-000000000000"))
    assert refusal(answer) == (404, "no-summary")


@pytest.mark.parametrize("spelled", ["g1", "x.g1", "{id}.m1", "{id}.g0", "{id}.g9", "{id}.g99999999999"])
def test_an_attempt_that_is_not_there(talk, spelled):
    for how in ("", "/replay-body"):
        address = f"{ROOT}/generations/{spelled.format(id=talk.id)}{how}"
        assert talk.client.get(address).status_code == 404
    for how in ("finish", "fail", "cancel", "regenerate"):
        assert end(talk, spelled.format(id=talk.id), how, {"request_id": "r"}).status_code == 404


def test_secrets_are_cut_before_anything_is_compared(talk, realm):
    RedactionSwitch.objects.create(realm=realm, kinds=["card"], set_at="2026-01-01T00:00:00Z")
    body = attempt("r-1")
    first = talk.append(text("my card is 4242 4242 4242 4242"), generation=body)
    again = talk.append(text("my card is 4242 4242 4242 4242"), generation=body, status=200)
    assert again["message"]["id"] == first["message"]["id"]
    assert talk.path() == ["my card is [cut: card number]"]
