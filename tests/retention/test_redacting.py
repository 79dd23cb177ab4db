"""Redaction on demand: what is stored already is cut in place."""

import pytest

from conversations.models import Conversation, Generation, MessagePart, RedactionSpan, ToolCall
from conversations.vocabulary import SecretKind
from retention.errors import HeldError
from retention.services.holds import place_hold
from retention.services.redacting import redact_conversation
from tests.conversations.schema.rows import insert
from tests.retention.conftest import NOW

pytestmark = pytest.mark.django_db

CARD = "4242 4242 4242 4242"
CARDS = frozenset({SecretKind.CARD})


def redact(talk, officer):
    return redact_conversation(conversation_id=talk.id, kinds=CARDS, user=officer, now=NOW)


def test_a_stored_card_number_is_cut_from_texts_payloads_and_title(make_talk, officer):
    talk = make_talk(words=f"my card {CARD}", title=f"{CARD}?")
    talk.calls("call_1", arguments=f'{{"card": "{CARD}"}}')

    redacted = redact(talk, officer)

    assert (redacted.parts, redacted.cuts) == (2, 2)
    said, called = MessagePart.objects.order_by("seq")
    assert (said.text, said.bytes_state) == ("my card [cut: card number]", "redacted")
    assert b"4242" not in bytes(called.payload)
    assert Conversation.objects.get().title == "[cut: card number]?"
    assert ToolCall.objects.get().arguments is None
    places = RedactionSpan.objects.order_by("seq").values_list("side", "seq", "start", "end")
    assert places[0] == ("part", 1, 8, 26)


def test_a_body_that_held_it_is_lost(make_talk, officer):
    talk = make_talk(words=CARD)
    insert("generation", conversation_id=talk.id, number=1, leaf_seq=1, body_proof="exact")

    redact(talk, officer)

    assert Generation.objects.get().body_proof == "lost"


def test_a_conversation_without_secrets_is_left_alone(make_talk, officer):
    talk = make_talk()

    assert redact(talk, officer).cuts == 0
    assert MessagePart.objects.get().bytes_state == "present"


def test_what_is_held_is_not_cut(make_talk, officer):
    talk = make_talk(words=CARD)
    place_hold(conversation_id=talk.id, matter="M-7", user=officer, now=NOW)

    with pytest.raises(HeldError):
        redact(talk, officer)

    assert MessagePart.objects.get().text == CARD
