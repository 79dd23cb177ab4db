import json

import pytest

from access.actors import Actor, ActorKind
from conversations.models import Conversation, Generation, Message
from conversations.replay import request_body
from conversations.services.importing.importing import import_file
from conversations.services.importing.report import ExitStatus
from conversations.vocabulary import Dialect
from tests.conversations.conftest import NOW
from tests.conversations.imports.reading import lines, read_file, write

FIRST = '{"model": "gpt-x", "messages": [{"role": "user", "content": "caf\\u00e9?"}]}'
SECOND = {
    "model": "gpt-x",
    "messages": [
        {"role": "user", "content": "caf\u00e9?"},
        {"role": "assistant", "content": "At nine."},
        {"role": "user", "content": "Thanks"},
    ],
}


def answer(words: str, number: int) -> str:
    message = {"role": "assistant", "content": words}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return json.dumps({"id": f"chatcmpl-{number}", "model": "gpt-x-1", "choices": choices})


def call(request: object, response: object, **fields: object) -> dict[str, object]:
    return {
        "path": "/v1/chat/completions",
        "request_body": request,
        "response_body": response,
        "response_status": 200,
        **fields,
    }


TRAFFIC = lines(call(FIRST, answer("At nine.", 1)), call(json.dumps(SECOND), answer("Bye.", 2)))


@pytest.fixture
def imported(realm, tmp_path):
    def run(content: str):
        path = write(tmp_path, content, "traffic.jsonl")
        return import_file(path=path, realm=realm, actor=Actor(ActorKind.IMPORTER), now=NOW, account="c-1")

    return run


def test_calls_that_continue_each_other_are_one_conversation(imported):
    report = imported(TRAFFIC)

    conversation = Conversation.objects.get()
    assert Message.objects.count() == 4
    assert Generation.objects.count() == 2
    first = Generation.objects.get(conversation=conversation, number=1)
    assert request_body(first) == FIRST.encode()
    assert report.summary() == "1 conversations new, 4 messages, 2 calls recorded, 0 failed"
    assert report.exit_status == ExitStatus.COMPLETE


def test_the_same_traffic_again_adds_nothing(imported):
    imported(TRAFFIC)

    report = imported(TRAFFIC)

    assert Message.objects.count() == 4
    assert Generation.objects.count() == 2
    assert report.counts["calls known"] == 2


def test_a_call_that_is_not_to_a_model_is_named_and_the_rest_goes_in(imported):
    report = imported(lines(call("{}", "{}", path="/v1/files")) + TRAFFIC)

    assert [one.text for one in report.failed] == ["no call to a model: /v1/files"]
    assert Generation.objects.count() == 2


def test_bodies_kept_as_values_are_written_anew_and_said_so(tmp_path):
    record = {
        "request": {"url": "https://api.example/v1/messages", "body": {"model": "m", "max_tokens": 1.50}}
    }
    text = json.dumps({**record, "response": {"status": 200, "body": None}}).replace("1.5}", "1.50}")

    (found,) = read_file(write(tmp_path, text, "t.jsonl")).traffic

    assert found.dialect == Dialect.ANTHROPIC_MESSAGES
    assert found.request_body == b'{"model":"m","max_tokens":1.50}'
    assert (found.response_body, found.http_status) == (None, 200)
    assert found.notes == ["the request's body was kept as values; its bytes are written anew"]


def test_without_a_path_the_body_tells_the_dialect(tmp_path):
    record = {
        "request_body": '{"model":"m","system":"s","max_tokens":9,"messages":[]}',
        "response_body": None,
    }

    (found,) = read_file(write(tmp_path, lines(record), "t.jsonl")).traffic

    assert found.dialect == Dialect.ANTHROPIC_MESSAGES


def test_equal_calls_are_two_and_come_back_as_the_same_two(tmp_path):
    path = write(tmp_path, lines(call(FIRST, None), call(FIRST, None)), "t.jsonl")

    first = [one.exchange_id for one in read_file(path).traffic]

    assert len(set(first)) == 2
    assert [one.exchange_id for one in read_file(path).traffic] == first


@pytest.mark.parametrize(
    ("sent", "came"),
    [
        ({"Anthropic-Version": "2023-06-01", "anthropic-beta": "a,b"}, {"Request-Id": "req_1"}),
        ({"anthropic-version": ["2023-06-01"], "anthropic-beta": ["a", "b"]}, {"request-id": ["req_1"]}),
        (
            [["anthropic-version", "2023-06-01"], ["anthropic-beta", "a"], ["anthropic-beta", "b"]],
            [{"name": "request-id", "value": "req_1"}],
        ),
    ],
)
def test_the_version_the_betas_and_the_requests_id_are_read_from_headers(tmp_path, sent, came):
    body = '{"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}'
    request = {"url": "https://api.anthropic.com/v1/messages", "headers": sent, "body": body}
    record = {"request": request, "response": {"status": 200, "headers": came, "body": None}}

    (found,) = read_file(write(tmp_path, lines(record), "traffic.jsonl")).traffic

    told = (found.api_version, found.beta_headers, found.provider_request_id)
    assert told == ("2023-06-01", "a,b", "req_1")


@pytest.mark.parametrize("headers", [None, 7, "x", [None, 3, ["one"], [1, 2], {"name": 4}], {"a": {"b": 1}}])
def test_headers_that_are_none_tell_nothing(tmp_path, headers):
    record = {"request": {"headers": headers, "body": FIRST}, "response": {"headers": headers, "body": None}}

    (found,) = read_file(write(tmp_path, lines(record), "traffic.jsonl")).traffic

    assert (found.api_version, found.beta_headers, found.provider_request_id) == ("", "", "")


def test_a_call_to_a_model_that_is_not_read_is_not_called_none(tmp_path):
    path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent"

    (broken,) = read_file(write(tmp_path, lines(call("{}", "{}", path=path)), "traffic.jsonl")).broken

    assert broken.reason == f"a call in no dialect that we know: {path}"
