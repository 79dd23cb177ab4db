"""What is sent again, or at the same time, is written once."""

import pytest
from django.db import connections

from conversations.models import Generation, Message
from conversations.vocabulary import GenerationStatus
from tests.api.answers import refusal
from tests.api.conversations.talking import ROOT, Talk, attempt, text
from tests.conversations.writers import at_once

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "repeated",
    [
        {"client_message_id": "m-1", "generation": attempt("r-1")},
        {"generation": attempt("r-1")},
        {"client_message_id": "m-1", "generation": attempt("another")},
        {"client_message_id": "m-1"},
    ],
)
def test_a_retry_returns_what_is_stored_of_both(talk, repeated):
    first = talk.ask("hello", client_message_id="m-1", generation=attempt("r-1"))
    talk.finish(first["generation"]["id"], "Good morning.")

    again = talk.append(text("hello"), status=200, **repeated)

    assert again["is_new"] is False
    assert again["message"] == first["message"]
    if "generation" in repeated:
        assert again["generation"]["id"] == first["generation"]["id"]
        assert again["generation"]["message_id"] == talk.message_id(2)
    assert (Message.objects.count(), Generation.objects.count()) == (2, 1)


@pytest.mark.parametrize(
    ("words", "repeated", "rule"),
    [
        ("bye", {"client_message_id": "m-1"}, "client-id-used"),
        ("bye", {"client_message_id": "m-1", "generation": attempt("r-2")}, "client-id-used"),
        ("bye", {"generation": attempt("r-1")}, "request-id-used"),
        ("hello", {"client_message_id": "m-2", "generation": attempt("r-1")}, "request-id-used"),
    ],
)
def test_an_id_used_for_other_content_is_refused(talk, words, repeated, rule):
    talk.ask("hello", client_message_id="m-1", generation=attempt("r-1"))
    answer = talk.post("/messages", {"parts": [text(words)], **repeated})
    assert refusal(answer) == (409, rule)
    assert (Message.objects.count(), Generation.objects.count()) == (1, 1)


def test_a_later_attempt_of_the_same_request_is_a_new_one(talk):
    first = talk.ask("hello", client_message_id="m-1", generation=attempt("r-1"))
    talk.client.post(f"{ROOT}/generations/{first['generation']['id']}/fail", {"error_code": "overloaded"})
    answer = talk.post("/generations", attempt("r-1", attempt=2, model="claude-haiku-4-5"))
    assert answer.status_code == 201
    assert answer.json()["generation"]["leaf_id"] == talk.message_id(1)
    assert talk.post("/generations", attempt("r-1", attempt=2)).status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "names",
    [
        pytest.param({"client_message_id": "m-1"}, id="client id"),
        pytest.param({"generation": attempt("r-1")}, id="request id"),
        pytest.param({"client_message_id": "m-1", "generation": attempt("r-1")}, id="both"),
    ],
)
def test_eight_at_once_write_one(begin, client_of, issue, names):
    talk, issued = begin(), issue()
    body = {"parts": [text("hello")], **names}

    def post():
        answer = Talk(client_of(issued), talk.id).post("/messages", body)
        connections.close_all()
        return answer.status_code, answer.json()

    outcomes = at_once(*[post] * 8)

    assert sorted(status for status, _ in outcomes) == [200] * 7 + [201]
    assert {told["message"]["id"] for _, told in outcomes} == {talk.message_id(1)}
    assert Message.objects.count() == 1
    assert Generation.objects.count() == ("generation" in names)


@pytest.mark.django_db(transaction=True)
def test_different_messages_at_once_are_all_written(begin, client_of, issue):
    talk, issued = begin(), issue()

    def post(number):
        def run():
            status = Talk(client_of(issued), talk.id).post("/messages", {"parts": [text(f"say {number}")]})
            connections.close_all()
            return status.status_code

        return run

    assert at_once(*map(post, range(8))) == [201] * 8
    assert sorted(Message.objects.values_list("seq", flat=True)) == list(range(1, 9))


def test_an_idempotency_key_is_honoured_beside_the_ids(talk):
    body = {"parts": [text("hello")]}
    first = talk.post("/messages", body, HTTP_IDEMPOTENCY_KEY="k-1")
    again = talk.post("/messages", body, HTTP_IDEMPOTENCY_KEY="k-1")
    assert (again.status_code, again.content) == (201, first.content)
    assert again["Idempotent-Replayed"] == "true"
    assert Message.objects.count() == 1


def test_status_of_an_attempt_that_a_retry_finds(talk):
    first = talk.ask("hello", generation=attempt("r-1"))
    talk.client.post(f"{ROOT}/generations/{first['generation']['id']}/cancel", {})
    again = talk.append(text("hello"), status=200, generation=attempt("r-1"))
    assert again["generation"]["status"] == GenerationStatus.CANCELLED
