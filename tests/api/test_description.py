"""The API against its own description: made-up requests, right and wrong, meet only answers that it names.

The seed and the number of requests are fixed, so a run costs the same and finds the same;
COUNTERFOIL_API_EXAMPLES asks for more of them.
"""

import os
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from rest_framework.test import APIClient
from schemathesis.checks import (
    content_type_conformance,
    ignored_auth,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from access.models import Realm
from config.wsgi import application
from tests.api.effects import make_conversation, make_talk, register
from tests.ledger.conftest import Talk

EXAMPLES = int(os.environ.get("COUNTERFOIL_API_EXAMPLES", "20"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
    ignored_auth,
    unsupported_method,
]
# Ids that exist while a test runs, by the name of the parameter; half of the requests name one of them.
KNOWN: dict[str, Any] = {}

schema = schemathesis.openapi.from_wsgi("/api/schema/?format=json", application)


@schema.hook
def map_path_parameters(context: Any, path_parameters: Any) -> Any:
    return with_known_ids(path_parameters)


@schema.hook
def map_body(context: Any, body: Any) -> Any:
    return with_known_ids(body)


def with_known_ids(given: Any) -> Any:
    """Put an id that exists in place of one that was made up, in half of the requests."""
    if isinstance(given, dict):
        for name in given.keys() & KNOWN.keys():
            if crc32(str(given[name]).encode(errors="replace")) % 2:
                given[name] = KNOWN[name]
    return given


@pytest.fixture
def known(realm: Realm, client: APIClient, broker_url: str, transactional_db: None) -> Iterator[None]:
    """One of everything that an address can name, in the key's realm."""
    register(realm)
    talk, message = make_talk(realm, "toolu_1", "toolu_2")
    asked, asking = make_talk(realm, "toolu_1", name="unknown_tool")

    def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = client.post(f"/api/v1/{path}", body)
        assert answer.status_code < 300, answer.content
        return answer.json()

    effect = post("effects", {"message_id": message, "call_id": "toolu_1"})["effect"]
    question = post("effects", {"message_id": asking, "call_id": "toolu_1"})["question"]
    hold = post("holds", {"conversation_id": str(asked.id), "matter": "M-1"})
    job = post("jobs", {"kind": "conversations.verify_replay", "parameters": {"conversation": str(talk.id)}})
    erasure = post("erasures", {"accounts": ["cus-1"]})
    waiting = Talk(make_conversation(realm))
    waiting.says()
    generation = post(
        f"conversations/{waiting.id}/generations",
        {"request_id": "r-1", "model": "m-1", "dialect": "openai_chat"},
    )
    KNOWN.clear()
    KNOWN.update(
        conversation_id=str(talk.id),
        seq=1,
        message_id=message,
        call_id="toolu_2",
        generation_id=generation["generation"]["id"],
        effect_id=effect["id"],
        question_id=question["id"],
        hold_id=hold["id"],
        run_id=job["id"],
        number=erasure["number"],
    )
    yield
    KNOWN.clear()


@pytest.mark.django_db(transaction=True)
@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_that_the_description_names(case, known, issue):
    issued = issue(requests_per_minute=1_000_000)
    case.call_and_validate(headers={"Authorization": f"Bearer {issued.secret}"}, checks=CHECKS)
