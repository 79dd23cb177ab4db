"""What every address shares: problems, request ids, limits, once-only answers, one realm to read in."""

import json
import threading
from datetime import timedelta
from typing import ClassVar
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.db import connection
from django.urls import get_resolver
from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from access.api.views import ApiView
from access.middleware import SignedIn
from access.models import Realm, Scope, StoredAnswer
from access.services.answers import (
    ANSWERS_ARE_KEPT,
    LONGEST_REQUEST,
    Claim,
    KeyReusedError,
    StillWorkingError,
    claim_answer,
    forget_answers,
    keep_answer,
)
from conversations.api.listing import limit_of
from conversations.errors import ConflictError, NotFoundError, StoreError

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
FACTORY = APIRequestFactory(enforce_csrf_checks=True)


class Line(serializers.Serializer):
    amount = serializers.IntegerField()


class Order(serializers.Serializer):
    lines = Line(many=True)


class Bench(ApiView):
    """Does what the test tells it to do, and counts how often it was done."""

    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.WRITE}
    done: ClassVar[list] = []
    error: ClassVar[Exception | None] = None

    def get(self, request):
        limit_of(request)
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_user::text, current_setting('counterfoil.realms', true)")
            role, realms = cursor.fetchone()
        return Response({"role": role, "realms": realms})

    def post(self, request):
        Order(data=request.data).is_valid(raise_exception=True)
        self.done.append(request.data)
        if self.error is not None:
            raise self.error
        return Response({"count": len(self.done)}, status=201, headers={"ETag": '"1"'})


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr(Bench, "done", [])
    return Bench


def ask(view, issued, method="post", body=None, path="/api/v1/bench", **headers):
    data = {"lines": [{"amount": 1}]} if body is None else body
    make = getattr(FACTORY, method)
    arguments = {"format": "json"} if method == "post" else {}
    request = make(
        path,
        data if method == "post" else None,
        HTTP_AUTHORIZATION=f"Bearer {issued.secret}",
        **headers,
        **arguments,
    )
    response = view.as_view()(request)
    if hasattr(response, "render"):
        response.render()
    return response


def test_every_view_of_the_api_stands_on_the_shared_base():
    found = []

    def walk(patterns):
        for pattern in patterns:
            if hasattr(pattern, "url_patterns"):
                walk(pattern.url_patterns)
            elif (view := getattr(pattern.callback, "cls", None)) and issubclass(view, APIView):
                found.append(view)

    walk(get_resolver().url_patterns)
    ours = [view for view in found if not view.__module__.startswith("drf_spectacular")]
    assert ours
    assert [view for view in ours if not issubclass(view, ApiView)] == []
    for view in ours:
        methods = {
            method for method in ("GET", "POST", "PUT", "PATCH", "DELETE") if hasattr(view, method.lower())
        }
        assert set(view.scopes) == methods or view.scopes == {}, view


def test_a_missing_scope_is_named(issue, bench):
    answer = ask(bench, issue(scopes=[Scope.READ]))
    assert answer.status_code == 403
    assert "“write”" in answer.data["detail"]
    assert bench.done == []


def test_a_wrong_member_is_named_by_its_pointer(issue, bench):
    answer = ask(bench, issue(), body={"lines": [{"amount": 1}, {"amount": "much"}]})
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


@pytest.mark.parametrize("method", ["get", "post"])
def test_an_answer_that_is_not_acceptable_is_refused_before_anything_is_done(issue, bench, method):
    answer = ask(bench, issue(), method=method, HTTP_ACCEPT="application/xml", HTTP_IDEMPOTENCY_KEY="a")
    assert (answer.status_code, answer.data["rule"]) == (406, "not-acceptable")
    assert answer["Content-Type"] == "application/problem+json"
    assert bench.done == []
    assert not StoredAnswer.objects.exists()


def test_a_media_type_that_is_not_taken_is_refused(issue, bench):
    request = FACTORY.post(
        "/api/v1/bench", "a", content_type="text/plain", HTTP_AUTHORIZATION=f"Bearer {issue().secret}"
    )
    answer = bench.as_view()(request)
    assert (answer.status_code, answer.data["rule"]) == (415, "unsupported-media-type")
    assert bench.done == []


def test_the_address_does_not_choose_the_media_type(issue, bench):
    assert ask(bench, issue(), method="get", path="/api/v1/bench?format=xml").status_code == 200


def test_a_head_is_a_get_without_its_body(client):
    answer = client.head("/api/v1/key")
    assert (answer.status_code, answer.content) == (200, b"")
    assert client.head("/api/v1/nothing").status_code == 404


def test_options_tell_the_methods_to_whoever_has_a_key(client):
    answer = client.options("/api/v1/conversations")
    assert (answer.status_code, answer["Allow"]) == (200, "GET, POST, HEAD, OPTIONS")
    client.credentials()
    assert client.options("/api/v1/conversations").status_code == 401


def test_pages_of_other_origins_may_not_read_answers(client):
    answer = client.get("/api/v1/key", HTTP_ORIGIN="https://elsewhere.example")
    assert [name for name in answer.headers if name.lower().startswith("access-control")] == []


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


def test_an_error_of_ours_tells_nothing_and_keeps_no_answer(issue, bench, monkeypatch):
    monkeypatch.setattr(bench, "error", RuntimeError("the password is hunter2"))
    issued = issue()
    answer = ask(bench, issued, HTTP_IDEMPOTENCY_KEY="a")
    assert answer.status_code == 500
    assert "hunter2" not in answer.content.decode()
    monkeypatch.setattr(bench, "error", None)
    assert ask(bench, issued, HTTP_IDEMPOTENCY_KEY="a").status_code == 201


def test_a_repeat_gets_the_first_answer(issue, bench):
    issued = issue()
    first = ask(bench, issued, HTTP_IDEMPOTENCY_KEY="a")
    again = ask(bench, issued, HTTP_IDEMPOTENCY_KEY="a")
    assert (again.status_code, again.content) == (201, first.content)
    assert again["Idempotent-Replayed"] == "true"
    assert again["ETag"] == '"1"'
    assert len(bench.done) == 1
    assert ask(bench, issued, HTTP_IDEMPOTENCY_KEY="b").status_code == 201
    assert ask(bench, issue(), HTTP_IDEMPOTENCY_KEY="a").status_code == 201
    assert len(bench.done) == 3


def test_a_refusal_is_an_answer_too(issue, bench, monkeypatch):
    issued = issue()
    monkeypatch.setattr(bench, "error", ConflictError("head-moved", "it has moved"))
    ask(bench, issued, HTTP_IDEMPOTENCY_KEY="a")
    monkeypatch.setattr(bench, "error", None)
    assert ask(bench, issued, HTTP_IDEMPOTENCY_KEY="a").status_code == 409


def test_a_key_used_for_another_request_is_refused(issue, bench):
    issued = issue()
    ask(bench, issued, HTTP_IDEMPOTENCY_KEY="a")
    answer = ask(bench, issued, body={"lines": []}, HTTP_IDEMPOTENCY_KEY="a")
    assert (answer.status_code, answer.data["rule"]) == (422, "idempotency-key-reused")
    assert len(bench.done) == 1


@pytest.mark.parametrize("named", ["", "x" * 256, "ключ"])
def test_an_unfit_idempotency_key_is_refused(issue, bench, named):
    assert ask(bench, issue(), HTTP_IDEMPOTENCY_KEY=named).status_code == 400
    assert bench.done == []


def test_a_request_that_is_still_worked_on_is_not_done_twice(issue):
    key, now = issue().key, timezone.now()
    claim = claim_answer(key=key, idempotency_key="a", digest=b"1" * 32, now=now)
    assert isinstance(claim, Claim)
    with pytest.raises(StillWorkingError):
        claim_answer(key=key, idempotency_key="a", digest=b"1" * 32, now=now + timedelta(seconds=1))
    with pytest.raises(KeyReusedError):
        claim_answer(key=key, idempotency_key="a", digest=b"2" * 32, now=now + LONGEST_REQUEST)
    taken_over = claim_answer(key=key, idempotency_key="a", digest=b"1" * 32, now=now + LONGEST_REQUEST)
    assert isinstance(taken_over, Claim)
    # The first one comes to an end after all; the answer is the second's to give.
    told = {"status": 200, "headers": {}, "account_id": None, "now": now}
    keep_answer(claim, body=b"first", **told)
    keep_answer(taken_over, body=b"second", **told)
    assert bytes(StoredAnswer.objects.get().body) == b"second"


class Founding(ApiView):
    """Writes a row with each request, then does what the test tells it to do."""

    scopes: ClassVar = {"POST": Scope.WRITE}
    then: ClassVar = staticmethod(lambda: None)

    def post(self, request):
        founded = Realm.objects.create(
            slug=f"founded-{uuid4().hex}", name="Founded", created_at=timezone.now()
        )
        self.then()
        return Response({"realm": founded.slug}, status=201)


def founded():
    return Realm.objects.filter(name="Founded").count()


class Killed(BaseException):
    """A process that ends: no handler of errors sees it."""


@pytest.mark.django_db(transaction=True)
def test_a_server_that_dies_before_the_answer_is_kept_has_done_nothing(issue, monkeypatch):
    issued = issue()
    with monkeypatch.context() as patch:
        patch.setattr("access.api.views.keep_answer", Mock(side_effect=Killed))
        with pytest.raises(Killed):
            ask(Founding, issued, HTTP_IDEMPOTENCY_KEY="a")
    assert founded() == 0
    # The claim stands, and the repeat waits until the first is known to be dead.
    assert ask(Founding, issued, HTTP_IDEMPOTENCY_KEY="a").status_code == 409
    StoredAnswer.objects.update(claimed_at=timezone.now() - LONGEST_REQUEST)
    again = ask(Founding, issued, HTTP_IDEMPOTENCY_KEY="a")
    assert (again.status_code, founded()) == (201, 1)
    assert ask(Founding, issued, HTTP_IDEMPOTENCY_KEY="a").content == again.content
    assert founded() == 1


@pytest.mark.django_db(transaction=True)
def test_who_was_given_up_for_dead_and_was_not_does_nothing(issue, monkeypatch):
    issued = issue()
    monkeypatch.setattr(Founding, "then", lambda _: StoredAnswer.objects.update(claimed_at=timezone.now()))
    answer = ask(Founding, issued, HTTP_IDEMPOTENCY_KEY="a")
    assert (answer.status_code, answer.data["rule"]) == (409, "request-in-progress")
    assert founded() == 0


@pytest.mark.django_db(transaction=True)
def test_of_what_is_refused_nothing_stays_but_the_refusal(issue, monkeypatch):
    issued = issue()

    def refuse(view):
        raise StoreError("call-unanswered", "answer it")

    with monkeypatch.context() as patch:
        patch.setattr(Founding, "then", refuse)
        first = ask(Founding, issued, HTTP_IDEMPOTENCY_KEY="a")
    assert (first.status_code, founded()) == (422, 0)
    again = ask(Founding, issued, HTTP_IDEMPOTENCY_KEY="a")
    assert (again.content, again["Idempotent-Replayed"], founded()) == (first.content, "true", 0)


@pytest.mark.django_db(transaction=True)
def test_what_the_database_refuses_at_the_end_is_an_error_of_ours_and_no_answer(issue, monkeypatch):
    issued = issue()
    # A foreign key is checked at commit.
    nowhere = Realm(pk=2**31 - 1)
    with monkeypatch.context() as patch:
        patch.setattr(Founding, "then", lambda _: issue(realm=nowhere))
        answer = ask(Founding, issued, HTTP_IDEMPOTENCY_KEY="a")
    assert (answer.status_code, answer["Content-Type"]) == (500, "application/problem+json")
    assert founded() == 0
    assert ask(Founding, issued, HTTP_IDEMPOTENCY_KEY="a").status_code == 201


@pytest.mark.django_db(transaction=True)
def test_two_at_once_are_done_once(issue, bench):
    issued, statuses = issue(), []
    barrier = threading.Barrier(8)

    def one():
        barrier.wait()
        statuses.append(ask(bench, issued, HTTP_IDEMPOTENCY_KEY="a").status_code)
        connection.close()

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(bench.done) == 1
    assert set(statuses) <= {201, 409}
    assert 201 in statuses


def test_old_answers_are_forgotten(issue, bench):
    ask(bench, issue(), HTTP_IDEMPOTENCY_KEY="a")
    now = timezone.now()
    assert forget_answers(now=now) == 0
    assert forget_answers(now=now + ANSWERS_ARE_KEPT + timedelta(seconds=1)) == 1


@pytest.mark.django_db(transaction=True)
def test_a_get_reads_as_the_reader_in_its_own_realm_only(issue, bench):
    issued = issue()
    answer = ask(bench, issued, method="get")
    assert answer.data == {"role": "counterfoil_read", "realms": str(issued.key.realm_id)}
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user::text")
        assert cursor.fetchone() != ("counterfoil_read",)


def test_a_body_above_the_limit_is_refused_before_it_is_read(issue, bench, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    answer = ask(bench, issue())
    assert (answer.status_code, answer.data["rule"]) == (413, "body-too-large")


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
    assert (answer.status_code, answer.json()["rule"]) == (405, "method-not-allowed")
    assert "GET" in answer["Allow"]


@pytest.mark.parametrize("body", [b'{"lines": [', b"[" * 100_000, b'{"lines":' * 50_000])
def test_broken_json_says_where(client, issue, bench, body):
    request = FACTORY.post(
        "/api/v1/bench",
        body,
        content_type="application/json",
        HTTP_AUTHORIZATION=f"Bearer {issue().secret}",
    )
    answer = bench.as_view()(request)
    assert (answer.status_code, answer.data["rule"]) == (400, "parse-error")


def test_a_request_goes_by_the_callers_id_or_a_new_one(client):
    assert client.get("/api/v1/key", HTTP_X_REQUEST_ID="trace-1")["X-Request-Id"] == "trace-1"
    unfit = client.get("/api/v1/nothing", HTTP_X_REQUEST_ID="a\nb")
    assert len(unfit["X-Request-Id"]) == 32
    assert unfit.json()["request_id"] == unfit["X-Request-Id"]


def test_the_description_is_served_without_a_key_and_names_no_server(client, db):
    client.credentials()
    answer = client.get("/api/schema/", HTTP_ACCEPT="application/json")
    assert answer.status_code == 200
    described = answer.json()
    assert described["openapi"].startswith("3.1")
    assert "Problem" in described["components"]["schemas"]
    assert described["paths"]["/api/v1/key"]["get"]["security"] == [{"key": []}]
