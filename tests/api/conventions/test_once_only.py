"""A request with an Idempotency-Key is done once, and its answer is kept."""

from datetime import timedelta

import pytest
from django.utils import timezone

from access.models import StoredAnswer
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
from conversations.errors import ConflictError
from tests.api.answers import refusal
from tests.api.conventions.bench import ask
from tests.conversations.writers import at_once


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
    answer = ask(bench, issued, body=b'{"lines": []}', HTTP_IDEMPOTENCY_KEY="a")
    assert refusal(answer) == (422, "idempotency-key-reused")
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


@pytest.mark.django_db(transaction=True)
def test_two_at_once_are_done_once(issue, bench):
    issued = issue()

    answers = at_once(*[lambda: ask(bench, issued, HTTP_IDEMPOTENCY_KEY="a")] * 8)

    assert len(bench.done) == 1
    statuses = {answer.status_code for answer in answers}
    assert statuses in ({201}, {201, 409})


def test_old_answers_are_forgotten(issue, bench):
    ask(bench, issue(), HTTP_IDEMPOTENCY_KEY="a")
    now = timezone.now()
    assert forget_answers(now=now) == 0
    assert forget_answers(now=now + ANSWERS_ARE_KEPT + timedelta(seconds=1)) == 1
