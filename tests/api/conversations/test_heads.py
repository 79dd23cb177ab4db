"""Switching the active branch, guarded by the moves of the head."""

import pytest
from django.db import connections

from conversations.models import Conversation, HeadMove
from tests.api.answers import refusal
from tests.api.conversations.talking import Talk, text
from tests.conversations.writers import at_once

pytestmark = pytest.mark.django_db


def move(talk, seq, **headers):
    return talk.client.put(f"{talk.url}/head", {"message_id": talk.message_id(seq)}, **headers)


def test_the_head_moves_and_the_log_says_so(answered):
    answer = move(answered, 1)
    assert (answer.status_code, answer["ETag"]) == (200, '"3"')
    assert answer.json() == {"message_id": answered.message_id(1), "move": 3}
    assert answered.get("/head").json() == answer.json()
    assert answered.get("/head")["ETag"] == '"3"'
    [last] = answered.get("/head-moves?limit=1").json()["data"]
    assert (last["reason"], last["by_kind"]) == ("switch", "application")


def test_to_where_it_stands_nothing_is_written(answered):
    assert move(answered, 2).json()["move"] == 2
    assert HeadMove.objects.count() == 2


@pytest.mark.parametrize("source", ["", "/head"])
def test_if_match_moves_what_has_not_moved(answered, source):
    etag = answered.get(source)["ETag"]
    assert move(answered, 1, HTTP_IF_MATCH=etag).status_code == 200
    refused = move(answered, 2, HTTP_IF_MATCH=etag)
    assert refusal(refused) == (412, "head-moved")
    assert refused["Content-Type"] == "application/problem+json"
    assert Conversation.objects.get().head_seq == 1


@pytest.mark.parametrize(
    ("given", "status"),
    [("*", 200), ('"1", "2"', 200), ('W/"2"', 200), ('"7"', 412), ("2", 412), ("", 412), ('"x"', 412)],
)
def test_if_match_in_all_its_forms(answered, given, status):
    assert move(answered, 1, HTTP_IF_MATCH=given).status_code == status


@pytest.mark.parametrize("named", ["{other}.m1", "{id}.m9", "{id}.m0", "m1", "{id}.g1"])
def test_a_head_that_is_not_of_the_conversation_is_refused(answered, begin, named):
    other = begin()
    other.append(text("elsewhere"))
    spelled = named.format(id=answered.id, other=other.id)
    answer = answered.client.put(f"{answered.url}/head", {"message_id": spelled})
    assert answer.status_code == 404
    assert HeadMove.objects.filter(conversation_id=answered.id).count() == 2


@pytest.mark.parametrize("body", [{}, {"message_id": None}, {"message_id": 7.5}, [], {"message_id": {}}])
def test_a_body_that_names_no_message(answered, body):
    answer = answered.client.put(f"{answered.url}/head", body)
    assert answer.status_code in (400, 404)


@pytest.mark.django_db(transaction=True)
def test_of_eight_that_saw_the_same_head_one_moves_it(begin, client_of, issue):
    talk, issued = begin(), issue()
    for number in range(9):
        talk.append(text(f"say {number}"))

    def put(seq):
        def run():
            status = move(Talk(client_of(issued), talk.id), seq, HTTP_IF_MATCH='"9"').status_code
            connections.close_all()
            return status

        return run

    assert sorted(at_once(*map(put, range(1, 9)))) == [200] + [412] * 7
    assert HeadMove.objects.count() == 10
