"""Whatever goes wrong is told as a problem, with its rule and its place."""

import json
from unittest.mock import Mock

import pytest
from rest_framework.exceptions import ValidationError

from access.middleware import SignedIn
from access.models import Scope
from conversations.errors import ConflictError, NotFoundError, StoreError
from tests.api.answers import refusal
from tests.api.conventions.bench import ask


def test_a_missing_scope_is_named(issue, bench):
    answer = ask(bench, issue(scopes=[Scope.READ]))
    assert answer.status_code == 403
    assert "“write”" in answer.data["detail"]
    assert bench.done == []


def test_a_wrong_member_is_named_by_its_pointer(issue, bench):
    answer = ask(bench, issue(), body=b'{"lines": [{"amount": 1}, {"amount": "much"}]}')
    assert answer.status_code == 400
    assert answer.data["errors"] == [
        {"pointer": "#/lines/1/amount", "rule": "invalid", "detail": "A valid integer is required."}
    ]


@pytest.mark.parametrize("method", ["get", "head"])
def test_a_wrong_parameter_is_named_as_one(issue, bench, method):
    answer = ask(bench, issue(), method=method, path="/api/v1/bench?limit=0")
    assert answer.status_code == 400
    assert answer.data["errors"] == [
        {"parameter": "limit", "rule": "invalid", "detail": "a whole number from 1 to 200"}
    ]


def test_a_refusal_may_quote_what_no_answer_can_hold(issue, bench, monkeypatch):
    half = json.loads('"\\ud800"')
    monkeypatch.setattr(bench, "error", ValidationError({half: f"{half} is not a valid choice"}))
    answer = ask(bench, issue())
    assert (answer.status_code, json.loads(answer.content)["errors"]) == (
        400,
        [{"pointer": "#/?", "rule": "invalid", "detail": "? is not a valid choice"}],
    )


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotFoundError("no-message", "there is none", place="message 3"), 404),
        (ConflictError("head-moved", "it has moved", place="message 3"), 409),
        (StoreError("call-unanswered", "answer it", place="message 3"), 422),
    ],
)
def test_a_refusal_of_the_store_names_rule_and_place(issue, bench, monkeypatch, error, status):
    monkeypatch.setattr(bench, "error", error)
    answer = ask(bench, issue())
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.data["rule"] == error.rule
    assert answer.data["place"] == "message 3"


def test_a_body_above_the_limit_is_refused_before_it_is_read(issue, bench, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    answer = ask(bench, issue())
    assert refusal(answer) == (413, "body-too-large")


def test_an_unknown_address_is_a_problem_too(client):
    answer = client.get("/api/v1/nothing")
    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["rule"] == "no-such-address"
    assert client.post("/api/v1/nothing").status_code == 404


def test_a_host_that_is_not_served_is_a_problem_too(client):
    answer = client.get("/api/v1/key", HTTP_HOST="elsewhere.example")
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["rule"] == "request-malformed"
    assert client.get("/", HTTP_HOST="elsewhere.example")["Content-Type"].startswith("text/html")


def test_what_fails_before_any_view_is_a_problem_too(client, monkeypatch):
    monkeypatch.setattr(SignedIn, "__call__", Mock(side_effect=RuntimeError("hunter2")))
    client.raise_request_exception = False
    answer = client.get("/api/v1/key")
    assert (answer.status_code, answer["Content-Type"]) == (500, "application/problem+json")
    assert answer.json()["rule"] == "internal-error"
    assert "hunter2" not in answer.content.decode()


def test_a_method_that_is_not_there_says_which_are(client):
    answer = client.delete("/api/v1/key")
    assert refusal(answer) == (405, "method-not-allowed")
    assert "GET" in answer["Allow"]


@pytest.mark.parametrize("body", [b'{"lines": [', b"[" * 100_000, b'{"lines":' * 50_000])
def test_broken_json_says_where(issue, bench, body):
    answer = ask(bench, issue(), body=body)
    assert refusal(answer) == (400, "parse-error")
