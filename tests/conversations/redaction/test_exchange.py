"""Recording with the switch on: what was cut is nowhere in the store."""

import json

import pytest

from conversations.models import Generation, MessagePart, RawBody, RedactionSpan
from conversations.redaction.switch import report_false_hit
from conversations.replay.bodies import request_body_of
from conversations.services.recording import record_exchange
from conversations.vocabulary import Dialect, SecretKind
from tests.conversations.conftest import NOW
from tests.conversations.redaction.conftest import everywhere
from tests.ledger.seen import AGENT

pytestmark = pytest.mark.django_db

CARD = "4242424242424242"
REQUEST = json.dumps(
    {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": f"charge {CARD}"}],
    }
).encode()
ANSWER = json.dumps(
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": f"I charged {CARD}."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 9, "output_tokens": 9},
    }
).encode()


def record(account, **given):
    return record_exchange(
        account=account,
        request_body=REQUEST,
        response_body=ANSWER,
        dialect=Dialect.ANTHROPIC_MESSAGES,
        actor=AGENT,
        now=NOW,
        http_status=200,
        **given,
    )


def test_a_card_number_is_in_no_table(account, switch):
    switch(SecretKind.CARD)

    recorded = record(account)

    assert everywhere(CARD) == []
    assert not RawBody.objects.exists()
    assert sorted(MessagePart.objects.values_list("text", flat=True)) == [
        "I charged [cut: card number].",
        "charge [cut: card number]",
    ]
    spans = RedactionSpan.objects.order_by("side").values_list("side", "kind", "number")
    assert list(spans) == [
        ("request", "card", recorded.generation_number),
        ("response", "card", recorded.generation_number),
    ]


def test_the_cut_body_is_given_back_and_says_that_it_is_cut(account, switch):
    switch(SecretKind.CARD)

    recorded = record(account)

    assert Generation.objects.get().is_redacted
    body = request_body_of(conversation_id=recorded.conversation_id, number=recorded.generation_number)
    assert body == REQUEST.replace(CARD.encode(), b"[cut: card number]")


def test_delivered_again_nothing_is_written(account, switch):
    switch(SecretKind.CARD)
    record(account, exchange_id="x-1")

    assert record(account, exchange_id="x-1").was_known
    assert RedactionSpan.objects.count() == 2


def test_switched_off_the_body_is_what_was_sent(account, switch):
    recorded = record(account)

    assert not RedactionSpan.objects.exists()
    assert (
        request_body_of(conversation_id=recorded.conversation_id, number=recorded.generation_number)
        == REQUEST
    )


def test_an_accounts_switch_goes_before_its_realms(account, switch, make_account):
    switch(SecretKind.CARD, account_id=None)
    switch()

    record(account)
    assert everywhere(CARD) != []
    record(make_account(), exchange_id="x-2")

    assert RedactionSpan.objects.count() == 2


def test_a_false_hit_is_reported_at_its_span(account, switch, django_user_model):
    switch(SecretKind.CARD)
    record(account)
    span = RedactionSpan.objects.first()

    report_false_hit(span_id=span.pk, user=django_user_model.objects.get(), now=NOW)

    span.refresh_from_db()
    assert (span.reported_false_at, span.reported_false_by.username) == (NOW, "petra")
