"""What a request leaves that dies, is refused, or was given up for dead."""

from typing import ClassVar
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.utils import timezone
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Realm, Scope, StoredAnswer
from access.services.answers import LONGEST_REQUEST
from conversations.errors import StoreError
from tests.api.answers import refusal
from tests.api.conventions.bench import ask


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
    assert refusal(answer) == (409, "request-in-progress")
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
