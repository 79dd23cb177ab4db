"""The API against its own description: made-up requests, right and wrong, meet only answers that it names.

The seed and the number of requests are fixed, so a run costs the same and finds the same;
COUNTERFOIL_API_EXAMPLES asks for more of them.
"""

import os
from typing import Any
from zlib import crc32

import pytest
import schemathesis
from django.utils import timezone
from hypothesis import HealthCheck, settings
from schemathesis.checks import (
    content_type_conformance,
    ignored_auth,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from access.actors import Actor, ActorKind
from config.wsgi import application
from conversations.drafts import MessageDraft, PartDraft
from conversations.public_ids import generation_id, message_id
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message
from conversations.services.starting import start_conversation
from conversations.vocabulary import PartType, Role

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
def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    for name in path_parameters or {}:
        if name in KNOWN and crc32(str(path_parameters[name]).encode(errors="replace")) % 2:
            path_parameters[name] = KNOWN[name]
    return path_parameters


@pytest.fixture
def known(realm, transactional_db):
    """One of everything that an address can name, in the key's realm."""
    now, actor = timezone.now(), Actor(ActorKind.CUSTOMER)
    account = ensure_account(realm=realm, external_id="cus-1", now=now)
    conversation = start_conversation(account_id=account.pk, now=now, title="Lisbon")
    said = append_message(
        conversation_id=conversation.pk,
        message=MessageDraft(role=Role.USER, parts=[PartDraft(type=PartType.TEXT, text="Hello")]),
        actor=actor,
        now=now,
    )
    KNOWN.clear()
    KNOWN.update(
        conversation_id=str(conversation.pk),
        seq=said.seq,
        message_id=message_id(conversation.pk, said.seq),
        generation_id=generation_id(conversation.pk, 1),
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
