"""An answer is given once more, beside the first."""

import pytest
from django.db import connections

from conversations.models import Generation, HeadMove, Message
from tests.api.answers import refusal
from tests.api.conversations.talking import Talk, end, text
from tests.conversations.writers import at_once

pytestmark = pytest.mark.django_db


def test_an_answer_is_regenerated_beside_the_first(talk, opened):
    talk.finish(opened, "On its way.")
    again = end(talk, opened, "regenerate", {"request_id": "r-2"})
    assert again.status_code == 201
    told = again.json()
    assert (told["message"], told["generation"]["leaf_id"]) == (None, talk.message_id(1))
    assert told["generation"]["requested_model"] == "claude-sonnet-4-5"
    assert end(talk, opened, "regenerate", {"request_id": "r-2"}).json()["is_new"] is False
    # Nothing has changed for the customer yet.
    assert told["head"] == {"message_id": talk.message_id(2), "move": 2}

    finished = talk.finish(told["generation"]["id"], "It is lost.")

    assert finished["message"]["branch_reason"] == "regenerate"
    assert finished["head"] == {"message_id": talk.message_id(3), "move": 3}
    assert talk.path() == ["Where is order 1042?", "It is lost."]
    versions = talk.get().json()["path"][1]["versions"]
    assert [version["seq"] for version in versions] == [2, 3]


def test_a_regenerated_answer_may_be_given_at_once(talk, opened):
    talk.finish(opened, "On its way.")
    body = {
        "request_id": "r-2",
        "model": "gpt-5",
        "dialect": "openai_chat",
        "answer": {"message": {"parts": [text("It is lost.")]}},
    }
    first, again = end(talk, opened, "regenerate", body), end(talk, opened, "regenerate", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["head"] == again.json()["head"] == {"message_id": talk.message_id(3), "move": 3}
    assert first.json()["message"]["dialect"] == "openai_chat"
    assert first.json()["generation"]["provider"] == "openai"


@pytest.mark.django_db(transaction=True)
def test_eight_regenerations_at_once_are_one(begin, client_of, issue):
    talk, issued = begin(), issue()
    opened = talk.ask("hello")["generation"]["id"]
    talk.finish(opened, "hi")
    body = {"request_id": "r-2", "answer": {"message": {"parts": [text("hello again")]}}}

    def post():
        answer = end(Talk(client_of(issued), talk.id), opened, "regenerate", body)
        connections.close_all()
        return answer.status_code, answer.json()["head"]["message_id"]

    outcomes = at_once(*[post] * 8)

    assert sorted(status for status, _ in outcomes) == [200] * 7 + [201]
    assert {head for _, head in outcomes} == {talk.message_id(3)}
    assert (Message.objects.count(), Generation.objects.count()) == (3, 2)
    assert HeadMove.objects.count() == 3


def test_a_purged_branch_is_not_regenerated(talk, opened):
    Generation.objects.update(leaf_seq=None)
    answer = end(talk, opened, "regenerate", {"request_id": "r-2"})
    assert refusal(answer) == (409, "leaf-gone")
