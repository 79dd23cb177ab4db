"""Messages listed and read, and by whom."""

import json

import pytest

from access.models import AccessEntry, Scope
from access.models.log import AccessAction
from conversations.models import MessagePart
from tests.api.conversations.talking import Talk, text

pytestmark = pytest.mark.django_db


def test_messages_are_listed_in_order_and_paged(answered):
    answered.post("/messages/1/edit", {"parts": [text("zwei")]})
    page = answered.get("/messages?limit=2").json()
    assert [message["seq"] for message in page["data"]] == [1, 2]
    assert [message["generation_id"] for message in page["data"]] == [None, f"{answered.id}.g1"]
    rest = answered.client.get(page["next"]).json()
    assert [message["seq"] for message in rest["data"]] == [3]
    assert rest["next"] is None
    assert [m["seq"] for m in answered.client.get(rest["previous"]).json()["data"]] == [1, 2]
    entry = AccessEntry.objects.filter(action=AccessAction.API_READ).latest("id")
    assert (entry.target_kind, entry.row_count) == ("conversation", 2)


def test_the_number_of_queries_of_the_list_is_fixed(talk, django_assert_num_queries):
    talk.append(text("one"))
    talk.get("/messages")
    # As for a path, with the page's numbers in place of the tree.
    with django_assert_num_queries(15):
        talk.get("/messages")
    for number in range(6):
        talk.append(text(f"more {number}"))
    with django_assert_num_queries(15):
        talk.get("/messages")


def test_reading_one_message_is_in_the_access_log(answered):
    answered.get("/messages/2")
    entry = AccessEntry.objects.filter(action=AccessAction.API_READ).latest("id")
    assert (entry.target_kind, entry.target_id) == ("message", answered.message_id(2))


@pytest.mark.parametrize("seq", ["0", "9", "2147483648", "9" * 400, "9" * 5_000])
def test_a_message_that_is_not_there(answered, seq):
    assert answered.get(f"/messages/{seq}").status_code == 404


def test_a_key_that_may_only_write_is_told_nothing_that_was_said(issue, client_of, talk):
    writer = Talk(client_of(issue(scopes=[Scope.WRITE])), talk.id)
    for status in (201, 200):
        told = writer.append(text("my secret"), client_message_id="m-1", status=status)
        assert "my secret" not in json.dumps(told)
    assert writer.get("/messages").status_code == 403


def test_bytes_that_were_taken_away_are_told_so(answered):
    MessagePart.objects.filter(conversation_id=answered.id, seq=1).update(text=None, bytes_state="erased")
    [part] = answered.get().json()["path"][0]["parts"]
    assert (part["bytes_state"], part["text"], part["block"]) == ("erased", None, None)
