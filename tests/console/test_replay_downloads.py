"""The bodies that were sent and that would be sent next, as an auditor takes them."""

import json
from datetime import timedelta

import pytest

from access.actors import Actor, ActorKind
from access.models import AccessEntry
from access.rights import RoleName
from conversations.models import MessagePart
from conversations.services.recording import record_exchange
from conversations.vocabulary import Dialect
from tests.console.conftest import NOW

# Two blanks that no writer of JSON would put there.
REQUEST = (
    b'{"model":"claude-sonnet-4-5","max_tokens":64,  '
    b'"messages":[{"role":"user","content":"Where is order 1042?"}]}'
)
RESPONSE = json.dumps(
    {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": [{"type": "text", "text": "On its way."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 12, "output_tokens": 5},
    }
).encode()


@pytest.fixture
def recorded(account, make_conversation):
    conversation = make_conversation()
    record_exchange(
        account=account,
        conversation_id=conversation.pk,
        request_body=REQUEST,
        response_body=RESPONSE,
        dialect=Dialect.ANTHROPIC_MESSAGES,
        provider="anthropic",
        http_status=200,
        exchange_id="x-1",
        api_version="2023-06-01",
        started_at=NOW,
        finished_at=NOW + timedelta(seconds=2),
        actor=Actor(ActorKind.APPLICATION),
        now=NOW,
    )
    return conversation


@pytest.fixture
def auditor(log_in, recorded):
    client = log_in(RoleName.AUDITOR)
    client.post(f"/conversations/{recorded.pk}/open/", {"ticket": "AUD-1"})
    return client


def test_a_replay_body_is_the_bytes_that_were_sent(auditor, recorded):
    response = auditor.get(f"/conversations/{recorded.pk}/attempts/1/body")

    assert response.content == REQUEST
    assert response["Content-Disposition"].startswith('attachment; filename="request-')
    entry = AccessEntry.objects.get(action="download")
    assert (entry.target_kind, entry.target_id) == ("attempt", f"{recorded.pk}/1")


def test_the_page_of_an_attempt_has_the_command_without_the_key(auditor, recorded):
    page = auditor.get(f"/conversations/{recorded.pk}/attempts/1/").content.decode()

    assert "curl https://api.anthropic.com/v1/messages" in page
    assert "x-api-key: $API_KEY" in page
    assert "anthropic-version: 2023-06-01" in page
    assert "byte for byte" in page


def test_the_next_body_goes_on_from_the_answer(auditor, recorded):
    page = auditor.get(f"/conversations/{recorded.pk}/messages/2/next-body/").content.decode()
    body = auditor.get(f"/conversations/{recorded.pk}/messages/2/next-body/?download").content

    assert "Nothing is sent from here" in page
    sent = json.loads(body)
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant"]
    assert sent["max_tokens"] == 64
    assert list(
        AccessEntry.objects.filter(action__in=["raw", "download"]).values_list("action", flat=True)
    ) == [
        "raw",
        "download",
    ]


def test_a_body_whose_bytes_are_gone_says_where_and_is_no_error(auditor, recorded):
    MessagePart.objects.filter(conversation=recorded, seq=1).update(
        bytes_state="stripped", text=None, payload=None, shell=None
    )

    response = auditor.get(f"/conversations/{recorded.pk}/attempts/1/body")

    assert response.status_code == 409
    assert "the bytes of message 1, block 0 are gone" in response.content.decode()
    assert not AccessEntry.objects.filter(action="download").exists()
    shown = auditor.get(f"/conversations/{recorded.pk}/").content.decode()
    assert "Text was stripped by a retention policy" in shown


def test_what_is_not_there_is_not_found(auditor, recorded):
    for path in ("attempts/9/", "attempts/9/body", "messages/9/blocks/0/", "messages/1/blocks/9/file"):
        assert auditor.get(f"/conversations/{recorded.pk}/{path}").status_code == 404
    assert auditor.get(f"/conversations/{recorded.pk}/messages/9/next-body/").status_code == 409
