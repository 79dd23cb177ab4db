"""Redaction on demand: what is stored already is cut in place."""

import json
from datetime import timedelta

import pytest

from access.models import AccessEntry
from conversations.drafts import MessageDraft, PartDraft
from conversations.models import (
    Blob,
    Conversation,
    Fragment,
    Generation,
    MessagePart,
    RawBody,
    RedactionSpan,
    ToolCall,
)
from conversations.services.appending import append_message
from conversations.services.raw_bodies import keep_raw_body
from conversations.services.recording import record_exchange
from conversations.vocabulary import Dialect, PartType, RawClass, Role, SecretKind
from retention.archiving import archive_bytes
from retention.errors import HeldError
from retention.services.holds import place_hold
from retention.services.redacting import redact_conversation
from tests.conversations.schema.rows import insert
from tests.retention.conftest import CUSTOMER, NOW, sweep_files

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


def record(account, exchange_id="x-1", **fields):
    body = {"model": "claude-sonnet-4-5", "max_tokens": 100, **fields}
    recorded = record_exchange(
        account=account,
        request_body=json.dumps(body, indent=1).encode(),
        response_body=None,
        dialect=Dialect.ANTHROPIC_MESSAGES,
        actor=CUSTOMER,
        now=NOW,
        exchange_id=exchange_id,
    )
    return Conversation.objects.get(pk=recorded.conversation_id)


def test_what_stands_in_the_preamble_is_let_go_of_and_swept(account, make_account, officer, run_purge):
    asked = [{"role": "user", "content": "Where is order 1042?"}]
    told = record(account, system=f"Charge {CARD}.", messages=asked)
    other = record(make_account(external_id="o"), "x-2", system="Be brief.", messages=asked)

    redacted = redact_conversation(conversation_id=told.pk, kinds=CARDS, user=officer, now=NOW)

    assert (redacted.fragments, redacted.bodies_lost, redacted.is_nothing) == (1, 1, False)
    attempt = Generation.objects.get(conversation=told)
    assert (attempt.body_proof, attempt.preamble_id, attempt.body_patch) == ("lost", None, None)
    assert Generation.objects.get(conversation=other).preamble is not None
    Fragment.objects.update(created_at=NOW)
    run_purge(now=NOW + timedelta(days=2))
    assert not any(b"4242" in bytes(fragment.body) for fragment in Fragment.objects.all())


def test_a_body_whose_patch_alone_holds_it_is_lost(account, officer):
    block = {"role": "user", "content": "Where is order 1042? " * 40, "name": f"card {CARD}"}
    told = record(account, messages=[block, {"role": "user", "content": [{"type": "text", "text": "?"}]}])
    assert Generation.objects.get().body_proof == "patched"

    redacted = redact_conversation(conversation_id=told.pk, kinds=CARDS, user=officer, now=NOW)

    attempt = Generation.objects.get()
    assert (redacted.bodies_lost, attempt.body_proof, attempt.body_sha256) == (1, "lost", None)


def test_a_patch_without_any_is_kept(account, officer):
    block = {"role": "user", "content": "Where is order 1042? " * 40, "name": "Quirina"}
    told = record(account, messages=[block, {"role": "user", "content": [{"type": "text", "text": "?"}]}])

    redacted = redact_conversation(conversation_id=told.pk, kinds=CARDS, user=officer, now=NOW)

    attempt = Generation.objects.get()
    assert (redacted.is_nothing, attempt.body_proof, attempt.body_sha256 is None) == (True, "patched", False)


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


def test_a_dry_run_counts_and_changes_nothing(make_talk, officer):
    talk = make_talk(words=CARD, title=CARD)

    counted = redact_conversation(
        conversation_id=talk.id, kinds=CARDS, user=officer, now=NOW, is_dry_run=True
    )

    assert (counted.parts, counted.cuts, counted.has_title) == (1, 1, True)
    assert MessagePart.objects.get().text == CARD
    assert Conversation.objects.get().title == CARD
    assert not RedactionSpan.objects.exists()
    assert not AccessEntry.objects.exists()


def test_large_payloads_raw_bodies_and_errors_are_looked_into(make_talk, officer, folder, run_purge):
    talk = make_talk()
    block = f'{{"type":"odd","card":"{CARD}","pad":"{"x" * 40_000}"}}'
    message = MessageDraft(Role.USER, [PartDraft(PartType.OTHER, payload=block.encode())])
    append_message(conversation_id=talk.id, message=message, actor=CUSTOMER, now=NOW)
    for body in (f"no JSON {CARD}", "no secret"):
        keep_raw_body(body=body.encode(), raw_class=RawClass.STREAM, conversation_id=talk.id, now=NOW)
    failed = {"status": "failed", "finished_at": NOW, "error_message": f"no {CARD}"}
    insert("generation", conversation_id=talk.id, number=1, **failed)

    redacted = redact(talk, officer)

    assert (redacted.parts, redacted.raw_bodies, redacted.errors) == (1, 1, 1)
    assert Generation.objects.get().error_message == "no [cut: card number]"
    assert RawBody.objects.count() == 1
    Blob.objects.update(created_at=NOW)
    run_purge(now=NOW + timedelta(days=2))
    sweep_files()
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert [b"[cut: card number]" in file for file in files] == [True]
    assert MessagePart.objects.get(seq=2).bytes_state == "redacted"


def test_what_lies_in_the_archive_is_cut_and_its_old_file_goes(make_talk, officer, folder):
    talk = make_talk(words=f"my card {CARD}")
    archive_bytes(conversation_id=talk.id, now=NOW)
    [file] = [path for path in folder.rglob("*") if path.is_file()]

    redacted = redact(talk, officer)

    assert redacted.parts == 1
    assert MessagePart.objects.get().text == "my card [cut: card number]"
    sweep_files()
    assert not file.exists()
