"""Calls are recorded in the conversations that they made, with what is known of them."""

import json

from conversations.models import Account, Conversation, Generation
from conversations.replay.bodies import request_body_of
from counterfoil_recorder.backfill.command import ALL_IN
from tests.client.backfill.conftest import call, dialogue, interleaved, write


def test_calls_are_recorded_in_the_conversations_that_they_made(backfill):
    lines = interleaved(*(dialogue(f"chat {n}", conversation=f"chat-{n}") for n in range(5)))
    status, told = backfill(write(lines))

    assert (status, told) == (ALL_IN, "15 recorded\n")
    assert Account.objects.get().external_id == "customer-7"
    assert sorted(Conversation.objects.values_list("external_ref", flat=True)) == [
        f"chat-{n}" for n in range(5)
    ]
    for conversation in Conversation.objects.all():
        assert conversation.next_seq == 7
        assert set(conversation.generations.values_list("match", flat=True)) == {"started", "continued"}
    bodies = {
        request_body_of(conversation_id=g.conversation_id, number=g.number) for g in Generation.objects.all()
    }
    assert bodies == {line["request_body"].encode() for line in lines}


def test_calls_that_name_no_conversation_stay_in_order(backfill):
    """A line that came before the one it goes on from would begin a conversation of its own."""
    backfill(write(dialogue("chat", turns=8)), "--in-flight", 8)

    assert Conversation.objects.get().next_seq == 17


def test_what_belongs_together_is_told_by_a_member(backfill):
    lines = interleaved(*(dialogue(f"chat {n}", trace=f"t{n}") for n in range(6)))
    backfill(write(lines), "--together", "trace")

    assert sorted(Conversation.objects.values_list("next_seq", flat=True)) == [7] * 6


def test_what_is_known_of_a_call_goes_with_it(backfill):
    line = call(
        *("a", "b"),
        exchange_id="x-1",
        request_id="r-1",
        prompt_version="p-2",
        provider="bedrock",
        timestamp=1_700_000_000_000,
        finished_at="2023-11-14T22:13:21Z",
        response_status=529,
    )
    backfill(write([line]))

    kept = Generation.objects.get()
    assert (kept.request_id, kept.prompt_version, kept.provider, kept.http_status) == (
        "r-1",
        "p-2",
        "bedrock",
        529,
    )
    assert (kept.finished_at.isoformat(), kept.total_ms) == ("2023-11-14T22:13:21+00:00", 1000)


def test_nested_requests_and_values_in_place_of_texts_are_read(backfill):
    first = call("a", "b")
    nested = {
        "request": {"url": "https://api.anthropic.com/v1/messages?beta=true", "body": first["request_body"]},
        "response": {"status": 200, "body": json.loads(first["response_body"])},
    }
    assert backfill(write([nested])) == (ALL_IN, "1 recorded\n")
    [generation] = Generation.objects.all()
    assert (generation.status, generation.http_status) == ("complete", 200)
