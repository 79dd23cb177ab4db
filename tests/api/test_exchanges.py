"""`POST /exchanges`: whole and once, in the key's realm, and what it answers about what it was given."""

import base64
import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from conversations.api.exchanges import ExchangesView
from conversations.models import Account, Conversation, Generation, Message
from conversations.replay.bodies import request_body_of
from conversations.services.raw_bodies import open_raw_body
from tests.api.answers import refusal

pytestmark = pytest.mark.django_db

EXCHANGES = "/api/v1/exchanges"
REQUEST = (
    b'{"model": "claude-sonnet-4-6", "max_tokens": 64,'
    b' "messages": [{"role": "user", "content": "hi \\u00e9"}]}'
)
ANSWER = json.dumps(
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": [{"type": "text", "text": "hello"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }
).encode()


def facts(**changes):
    told = {
        "exchange_id": "x-1",
        "dialect": "anthropic_messages",
        "account": {"external_id": "customer-7", "label": "Ada"},
        "http_status": 200,
    }
    return told | changes


def as_json(client, *, request_body=REQUEST, response_body=ANSWER, **changes):
    bodies = {"request_body": base64.b64encode(request_body).decode()}
    if response_body is not None:
        bodies["response_body"] = base64.b64encode(response_body).decode()
    return client.post(EXCHANGES, facts(**changes) | bodies, format="json")


def as_parts(client, *, request_body=REQUEST, response_body=ANSWER, **changes):
    parts = {
        "exchange": SimpleUploadedFile("exchange", json.dumps(facts(**changes)).encode(), "application/json"),
        "request_body": SimpleUploadedFile("request", request_body, "application/octet-stream"),
    }
    if response_body is not None:
        parts["response_body"] = SimpleUploadedFile("response", response_body, "application/octet-stream")
    return client.post(EXCHANGES, parts, format="multipart")


@pytest.mark.parametrize("send", [as_json, as_parts])
def test_an_exchange_is_recorded_with_its_bytes_and_answered_with_its_place(client, realm, send):
    answer = send(client)

    assert answer.status_code == 201, answer.data
    account = Account.objects.get()
    conversation = Conversation.objects.get()
    assert (account.realm, account.external_id, account.label) == (realm, "customer-7", "Ada")
    assert request_body_of(conversation_id=conversation.pk, number=1) == REQUEST
    assert answer.data == {
        "exchange_id": "x-1",
        "was_known": False,
        "conversation": str(conversation.pk),
        "generation": f"{conversation.pk}.g1",
        "request_id": "exchange-x-1",
        "attempt": 1,
        "status": "complete",
        "leaf_message": f"{conversation.pk}.m1",
        "answer_message": f"{conversation.pk}.m2",
        "new_messages": [f"{conversation.pk}.m1", f"{conversation.pk}.m2"],
        "match": "started",
        "proof": "exact",
        "notes": [],
        "warnings": [],
    }


@pytest.mark.parametrize("send", [as_json, as_parts])
def test_sent_again_it_is_answered_and_not_written(client, send):
    first = send(client)
    again = send(client)

    assert again.status_code == 200
    assert again.data["was_known"] is True
    assert again.data["new_messages"] == []
    same = ("conversation", "generation", "leaf_message", "answer_message", "match", "proof")
    assert {name: again.data[name] for name in same} == {name: first.data[name] for name in same}
    assert Message.objects.count() == 2


def test_bytes_that_are_no_text_come_back_as_they_were(client):
    body = b"\xff\xfe\x00 no JSON\r\n--and a boundary\r\n"
    answer = as_parts(client, request_body=body, response_body=b"")

    assert (answer.status_code, answer.data["match"], answer.data["proof"]) == (201, "unplaced", "verbatim")
    assert answer.data["leaf_message"] is None
    number = int(answer.data["generation"].partition(".g")[2])
    assert request_body_of(conversation_id=answer.data["conversation"], number=number) == body


def test_a_stream_that_was_cut_off_is_kept_raw(client):
    stream = (
        b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_2","type":"message",'
        b'"role":"assistant","model":"claude-sonnet-4-6","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}\n\n'
        b'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":'
        b'{"type":"text","text":""}}\n\n'
        b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":'
        b'{"type":"text_delta","text":"hel'
    )
    answer = as_parts(client, response_body=stream)

    assert answer.data["status"] == "interrupted"
    raw = Generation.objects.select_related("raw_response").get().raw_response
    assert open_raw_body(raw) == stream


def test_an_attempt_without_an_answer_is_kept(client):
    answer = as_json(client, response_body=None, http_status=None)

    assert (answer.status_code, answer.data["status"], answer.data["answer_message"]) == (
        201,
        "interrupted",
        None,
    )


def test_a_rule_that_the_request_breaks_is_a_warning(client):
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}
    orphan = json.dumps({"messages": [{"role": "user", "content": [result]}]}).encode()
    answer = as_json(client, request_body=orphan)

    assert answer.status_code == 201
    assert [(warning["rule"], warning["place"]) for warning in answer.data["warnings"]] == [
        ("results-answer-previous", "messages.0.content.0")
    ]


def test_the_applications_own_reference_names_one_conversation(client):
    first = as_json(client, conversation="chat-42")
    other = REQUEST.replace(b"hi", b"something else")
    second = as_json(client, exchange_id="x-2", conversation="chat-42", request_body=other)

    assert first.data["conversation"] == second.data["conversation"]
    assert Conversation.objects.get().external_ref == "chat-42"


def test_a_reference_may_look_like_an_id_of_the_store(client):
    reference = "6f1c2a52-6d0c-4f43-9a3f-2f8f3a9c0001"
    answer = as_json(client, external_ref=reference)

    assert answer.status_code == 201
    assert Conversation.objects.get().external_ref == reference
    by_id = as_json(client, exchange_id="x-2", conversation=answer.data["conversation"])
    assert by_id.data["conversation"] == answer.data["conversation"]


def test_a_retry_is_the_next_attempt_of_what_it_tries_again(client):
    failed = as_json(client, response_body=None, http_status=None)
    again = as_json(client, exchange_id="x-2", retry_of="x-1")

    assert again.data["conversation"] == failed.data["conversation"]
    assert (again.data["request_id"], again.data["attempt"]) == (failed.data["request_id"], 2)
    assert Message.objects.count() == 2


def test_a_retry_of_what_is_not_the_accounts_is_a_call_of_its_own(client, stranger):
    as_json(stranger, exchange_id="x-theirs", response_body=None)
    as_json(client, exchange_id="x-other", response_body=None, account={"external_id": "customer-8"})

    for number, tried in enumerate(("x-theirs", "x-other", "x-never")):
        answer = as_json(client, exchange_id=f"x-{number}", retry_of=tried)
        assert (answer.status_code, answer.data["match"]) == (201, "started")


def test_a_conversation_of_another_account_or_realm_is_not_found(client, stranger):
    theirs = as_json(stranger).data["conversation"]
    other_account = as_json(client, account={"external_id": "customer-8"}, exchange_id="x-8").data[
        "conversation"
    ]
    before = Generation.objects.count()

    for conversation in (theirs, other_account):
        answer = as_json(client, exchange_id="x-9", conversation=conversation)
        assert refusal(answer) == (404, "no-conversation")

    assert Generation.objects.count() == before


def test_one_exchange_id_in_two_realms_is_two_exchanges(client, stranger):
    assert [as_json(client).status_code, as_json(stranger).status_code] == [201, 201]
    assert Conversation.objects.values("account__realm").distinct().count() == 2


def test_a_clock_that_is_ahead_does_not_date_the_conversation_into_the_future(client):
    answer = as_json(client, started_at="9998-01-01T00:00:00Z", finished_at="9999-01-01T00:00:00Z")

    assert answer.status_code == 201
    generation = Generation.objects.get()
    assert max(generation.created_at, generation.finished_at).year < 9998
    assert Conversation.objects.get().last_activity_at.year < 9998


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"request_body": "no base64!"}, "#/request_body"),
        ({"request_body": "YQ"}, "#/request_body"),
        ({"request_body": 7}, "#/request_body"),
        ({"response_body": "YQ==\n"}, "#/response_body"),
        ({"dialect": "smoke-signals"}, "#/dialect"),
        ({"account": {}}, "#/account/external_id"),
        ({"account": "customer-7"}, "#/account"),
        ({"account": {"external_id": "\x00"}}, "#/account/external_id"),
        ({"account": {"external_id": "\ud800"}}, "#/account/external_id"),
        ({"started_at": "yesterday"}, "#/started_at"),
        ({"exchange_id": ""}, "#/exchange_id"),
        ({"http_status": "ok"}, "#/http_status"),
        ({"conversation": "a", "external_ref": "b"}, "#/external_ref"),
    ],
)
def test_a_member_that_cannot_be_taken_is_pointed_at(client, changes, pointer):
    body = facts() | {"request_body": base64.b64encode(REQUEST).decode()} | changes
    answer = client.post(EXCHANGES, json.dumps(body), content_type="application/json")

    assert answer.status_code == 400
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert not Account.objects.exists()


def test_json_that_is_nested_too_deep_is_refused(client):
    answer = client.post(EXCHANGES, b'{"account": ' + b"[" * 200_000, content_type="application/json")

    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("parts", "pointer"),
    [
        ({"exchange": "{", "request_body": SimpleUploadedFile("r", b"{}")}, "#/exchange"),
        ({"exchange": "[]", "request_body": SimpleUploadedFile("r", b"{}")}, "#/exchange"),
        ({"exchange": "[" * 100_000, "request_body": SimpleUploadedFile("r", b"{}")}, "#/exchange"),
        ({"exchange": json.dumps(facts()), "request_body": "no file"}, "#/request_body"),
        ({"exchange": json.dumps(facts() | {"request_body": "e30="})}, "#/request_body"),
        ({"request_body": SimpleUploadedFile("r", b"{}")}, "#/exchange"),
    ],
)
def test_a_part_that_cannot_be_taken_is_pointed_at(client, parts, pointer):
    for part in parts.values():
        if isinstance(part, SimpleUploadedFile):
            part.seek(0)
    answer = client.post(EXCHANGES, parts, format="multipart")

    assert answer.status_code == 400, answer.data
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert not Account.objects.exists()


def test_parts_that_break_off_are_refused_and_not_taken_for_whole(client):
    boundary = "b"
    whole = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="exchange"\r\n\r\n{json.dumps(facts())}\r\n'
        f'--{boundary}\r\nContent-Disposition: form-data; name="request_body"; filename="r"\r\n\r\n'
    ).encode() + REQUEST
    answer = client.generic(
        "POST",
        EXCHANGES,
        whole,
        content_type=f"multipart/form-data; boundary={boundary}",
        CONTENT_LENGTH=str(len(whole) + 20),
        **{"wsgi.input": io.BytesIO(whole)},
    )

    assert answer.status_code == 400
    assert "breaks off" in answer.json()["detail"]
    assert not Generation.objects.exists()


def test_more_than_the_limit_is_refused_with_the_limit(client, monkeypatch):
    monkeypatch.setattr(ExchangesView, "largest_body", 10_000)
    answer = as_parts(client, request_body=b"x" * 10_001)

    assert refusal(answer) == (413, "body-too-large")
    assert "10,000" in answer.json()["detail"]
    assert not Generation.objects.exists()
