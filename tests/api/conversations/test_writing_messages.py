"""A message goes where it is told to, beside what it is another version of."""

import pytest

from conversations.models import Conversation, Message
from tests.api.answers import refusal
from tests.api.conversations.talking import attempt, text

pytestmark = pytest.mark.django_db


def test_a_message_and_an_attempt_at_its_answer_are_written_together(talk):
    told = talk.ask("Where is order 1042?", client_message_id="m-1", generation=attempt("r-1"))
    assert told["is_new"] is True
    assert told["message"] | {"created_at": ""} == {
        "id": talk.message_id(1),
        "seq": 1,
        "parent_id": None,
        "answers_id": None,
        "role": "user",
        "dialect": "anthropic_messages",
        "branch_reason": "continue",
        "is_hidden": False,
        "client_message_id": "m-1",
        "token_count": None,
        "occurred_at": None,
        "created_at": "",
    }
    generation = told["generation"]
    assert (generation["id"], generation["leaf_id"]) == (f"{talk.id}.g1", talk.message_id(1))
    assert (generation["status"], generation["provider"]) == ("streaming", "anthropic")
    assert told["head"] == {"message_id": talk.message_id(1), "move": 1}


def test_a_message_may_be_appended_alone_for_any_role(talk):
    for role in ("system", "user", "assistant", "developer"):
        assert talk.append(text(f"by {role}"), role=role)["generation"] is None
    assert [message["role"] for message in talk.get().json()["path"]] == [
        "system",
        "user",
        "assistant",
        "developer",
    ]


def test_a_message_goes_below_the_one_that_is_named(answered):
    answered.append(text("What of order 7?"), below_id=answered.message_id(1))
    assert answered.path() == ["Where is order 1042?", "What of order 7?"]
    answered.append(text("A new beginning"), below_id=None)
    assert answered.path() == ["A new beginning"]


@pytest.mark.parametrize(
    "named", ["{id}.m0", "{id}.m9", "{other}.m1", "m1", "", "{id}.m99999999999", "x" * 65]
)
def test_below_what_is_not_there_nothing_is_written(talk, begin, named):
    other = begin()
    other.append(text("elsewhere"))
    answer = talk.post(
        "/messages", {"parts": [text("hello")], "below_id": named.format(id=talk.id, other=other.id)}
    )
    assert answer.status_code in (400, 404)
    assert Conversation.objects.get(pk=talk.id).head_seq is None


def test_another_version_of_a_question_and_its_attempt(answered):
    body = {"parts": [text("Where is order 1043?")], "client_message_id": "e-1", "generation": attempt("r-9")}
    first = answered.post("/messages/1/edit", body)
    again = answered.post("/messages/1/edit", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["message"]["branch_reason"] == "user_edit"
    assert again.json()["generation"]["id"] == first.json()["generation"]["id"] == f"{answered.id}.g2"
    assert first.json()["head"]["message_id"] == answered.message_id(3)


def test_only_a_users_message_is_edited(answered):
    answer = answered.post("/messages/2/edit", {"parts": [text("I never said that")]})
    assert refusal(answer) == (422, "edit-not-a-users")
    assert answered.post("/messages/9/edit", {"parts": [text("x")]}).status_code == 404
    assert Message.objects.count() == 2


def test_a_message_in_another_dialect_than_its_place_is_refused(talk):
    talk.append(text("hello"), dialect="openai_chat")
    answer = talk.post("/messages/1/edit", {"parts": [text("hi")], "dialect": "anthropic_messages"})
    assert refusal(answer) == (422, "dialect-differs")
