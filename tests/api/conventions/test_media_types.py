"""Methods, media types and origins."""

import pytest

from access.models import StoredAnswer
from tests.api.answers import refusal
from tests.api.conventions.bench import ask


@pytest.mark.parametrize("method", ["get", "post"])
def test_an_answer_that_is_not_acceptable_is_refused_before_anything_is_done(issue, bench, method):
    answer = ask(bench, issue(), method=method, HTTP_ACCEPT="application/xml", HTTP_IDEMPOTENCY_KEY="a")
    assert refusal(answer) == (406, "not-acceptable")
    assert answer["Content-Type"] == "application/problem+json"
    assert bench.done == []
    assert not StoredAnswer.objects.exists()


def test_a_media_type_that_is_not_taken_is_refused(issue, bench):
    answer = ask(bench, issue(), body=b"a", content_type="text/plain")
    assert refusal(answer) == (415, "unsupported-media-type")
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
