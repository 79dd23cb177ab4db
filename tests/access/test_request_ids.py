"""Every line that a request leaves in the log carries the id that its answer names."""

import logging

import pytest
import structlog

pytestmark = pytest.mark.django_db


class Lines(logging.Handler):
    """What is logged, with the id that stands beside it at that moment."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def emit(self, record):
        bound = structlog.contextvars.get_contextvars()
        self.seen.append((record.getMessage(), bound.get("request_id")))


@pytest.fixture
def lines():
    handler, logger = Lines(), logging.getLogger("django.request")
    logger.addHandler(handler)
    yield handler.seen
    logger.removeHandler(handler)


@pytest.mark.parametrize("path", ["/api/v1/key", "/api/v1/nothing", "/nothing/"])
def test_a_refusal_is_one_line_with_the_requests_id(client, lines, path):
    answer = client.get(path, HTTP_X_REQUEST_ID="trace-1")
    assert answer["X-Request-Id"] == "trace-1"
    assert lines == [(f"{answer.reason_phrase}: {path}", "trace-1")]


def test_the_id_ends_with_its_request(client):
    client.get("/api/v1/key", HTTP_X_REQUEST_ID="trace-1")
    assert "request_id" not in structlog.contextvars.get_contextvars()
