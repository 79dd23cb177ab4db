"""What applications write and what files bring, with the switch on: what was cut is nowhere in the store."""

import json

import pytest

from conversations.drafts import MessageDraft, PartDraft
from conversations.errors import ConflictError
from conversations.identity import unit_digests
from conversations.models import (
    Conversation,
    Generation,
    Message,
    MessagePart,
    RawBody,
    RedactionSpan,
    ToolCall,
)
from conversations.redaction.drafts import cut_message
from conversations.services.appending import append_message, edit_message, regenerate_message
from conversations.services.deriving import write_summary
from conversations.services.forking import fork_conversation
from conversations.services.generations import Attempt, Outcome, begin_generation, finish_generation
from conversations.services.importing.importing import import_file
from conversations.services.raw_bodies import open_raw_body
from conversations.services.recording import record_exchange
from conversations.services.starting import start_conversation
from conversations.services.tool_results import answer_calls
from conversations.vocabulary import Dialect, GenerationStatus, PartType, Role, SecretKind
from tests.conversations.conftest import NOW
from tests.conversations.drafts import assistant, call, calls, result, user
from tests.conversations.imports.reading import write
from tests.conversations.recording.exchanges import answer, body
from tests.conversations.recording.exchanges import assistant as answered
from tests.conversations.recording.exchanges import user as says
from tests.conversations.redaction.conftest import everywhere
from tests.ledger.seen import AGENT

pytestmark = pytest.mark.django_db

CARD, CUT = "4242424242424242", "[cut: card number]"


def add(conversation, message, write=append_message, **given):
    return write(conversation_id=conversation.pk, message=message, actor=AGENT, now=NOW, **given)


def texts():
    return list(MessagePart.objects.order_by("seq", "ordinal").values_list("text", flat=True))


def cuts():
    return list(RedactionSpan.objects.order_by("pk").values_list("side", "seq", "ordinal", "kind"))


def test_what_is_appended_edited_and_made_anew_is_cut(conversation, switch):
    switch(SecretKind.CARD)

    add(conversation, user(f"charge {CARD}"))
    add(conversation, assistant(f"charging {CARD}"))
    add(conversation, user(f"no, {CARD}"), edit_message, seq=1)
    add(conversation, assistant(f"so, {CARD}"), regenerate_message, seq=2)

    assert everywhere(CARD) == []
    assert texts() == [f"charge {CUT}", f"charging {CUT}", f"no, {CUT}", f"so, {CUT}"]
    assert cuts() == [("part", seq, 0, "card") for seq in (1, 2, 3, 4)]
    span = RedactionSpan.objects.get(seq=1)
    assert f"charge {CUT}"[span.start : span.end] == CUT


def test_calls_and_results_are_cut_and_stay_json(conversation, switch):
    switch(SecretKind.CARD)

    add(conversation, MessageDraft(Role.ASSISTANT, [call("t1", "pay", f'{{"card":{CARD},"cvc":123}}')]))
    results = MessageDraft(Role.USER, [result("t1", f"paid with {CARD}")])
    add(conversation, results, answer_calls)

    assert everywhere(CARD) == []
    payloads = MessagePart.objects.order_by("seq").values_list("payload", flat=True)
    assert [json.loads(bytes(payload)) for payload in payloads] == [
        {"type": "tool_use", "id": "t1", "name": "pay", "input": {"card": CUT, "cvc": 123}},
        {"type": "tool_result", "tool_use_id": "t1", "content": f"paid with {CUT}"},
    ]
    assert ToolCall.objects.get().status == "succeeded"
    assert cuts() == [("part", 1, 0, "card"), ("part", 2, 0, "card")]


def test_an_answer_and_the_words_of_an_error_are_cut(conversation, switch):
    switch(SecretKind.CARD)
    add(conversation, user("pay"))
    for number in (1, 2):
        attempt = Attempt(
            request_id="r",
            attempt=number,
            provider="anthropic",
            dialect=Dialect.ANTHROPIC_MESSAGES,
            requested_model="claude-sonnet-4-5",
        )
        begin_generation(conversation_id=conversation.pk, leaf_seq=1, attempt=attempt, now=NOW)

    failed = Outcome(GenerationStatus.FAILED, error_message=f"card {CARD} refused")
    finish(conversation, 1, failed)
    finish(conversation, 2, Outcome(GenerationStatus.COMPLETE, message=assistant(f"I took {CARD}")))

    assert everywhere(CARD) == []
    assert Generation.objects.get(number=1).error_message == f"card {CUT} refused"
    assert cuts() == [("part", 2, 0, "card")]


def finish(conversation, number, outcome):
    finish_generation(conversation_id=conversation.pk, number=number, outcome=outcome, actor=AGENT, now=NOW)


def test_a_title_and_the_json_around_words_are_cut(account, switch):
    switch(SecretKind.CARD)
    conversation = start_conversation(account_id=account.pk, now=NOW, title=f"Card {CARD}")
    odd = PartDraft(PartType.TEXT, "words", None, f'{{"note":"{CARD}","text":\x02,"type":"text"}}')

    add(conversation, MessageDraft(Role.USER, [odd]))

    assert everywhere(CARD) == []
    assert Conversation.objects.get().title == f"Card {CUT}"


def test_a_summary_is_cut(conversation, switch):
    switch(SecretKind.CARD)
    add(conversation, user("pay"))

    write_summary(
        conversation_id=conversation.pk, from_seq=1, to_seq=1, text=CARD, prompt_version="v1", now=NOW
    )

    assert everywhere(CARD) == []


def test_a_retry_finds_what_was_stored_and_other_words_are_refused(conversation, switch):
    switch(SecretKind.CARD)
    first = add(conversation, user(f"charge {CARD}", client_message_id="m-1"))

    again = add(conversation, user(f"charge {CARD}", client_message_id="m-1"))

    assert (again.seq, again.is_new) == (first.seq, False)
    assert RedactionSpan.objects.count() == 1
    with pytest.raises(ConflictError):
        add(conversation, user("something else", client_message_id="m-1"))


def test_a_recorded_call_goes_on_from_what_was_appended(account, conversation, switch):
    switch(SecretKind.CARD)
    add(conversation, user(f"charge {CARD}"), dialect=Dialect.ANTHROPIC_MESSAGES)
    add(conversation, assistant("Done."), dialect=Dialect.ANTHROPIC_MESSAGES)

    record_exchange(
        account=account,
        request_body=body(says(f"charge {CARD}"), answered("Done."), says("Thanks")),
        response_body=answer("Welcome."),
        dialect=Dialect.ANTHROPIC_MESSAGES,
        actor=AGENT,
        now=NOW,
    )

    assert Conversation.objects.count() == 1
    assert Message.objects.count() == 4


def test_what_the_caller_handed_over_is_left_as_it_is(conversation, switch):
    switch(SecretKind.CARD)
    message = user(f"charge {CARD}")
    digests = unit_digests(message)

    add(conversation, message)

    assert unit_digests(message) == digests


def test_switched_off_nothing_is_cut(conversation):
    add(conversation, user(f"charge {CARD}"))

    assert texts() == [f"charge {CARD}"]
    assert not RedactionSpan.objects.exists()


def test_only_the_kinds_of_the_switch_are_cut(conversation, switch):
    switch(SecretKind.IBAN)

    add(conversation, user(f"charge {CARD}"))

    assert texts() == [f"charge {CARD}"]


def test_what_holds_no_secret_asks_the_database_nothing(conversation, switch, django_assert_num_queries):
    switch(SecretKind.CARD)

    with django_assert_num_queries(0):
        cut_message(conversation_id=conversation.pk, message=calls("t1", "t2"))
    with django_assert_num_queries(2):  # the account, its switch
        cut_message(conversation_id=conversation.pk, message=user(CARD))
    with django_assert_num_queries(2):
        cut_message(conversation_id=conversation.pk, message=user("long " * 20_000))


def test_a_large_payload_is_cut_before_it_lies_in_blob_storage(conversation, switch, settings, tmp_path):
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "blobs": backend}
    switch(SecretKind.CARD)
    padding = "x" * 100_000
    block = PartDraft(PartType.OTHER, payload=f'{{"type":"odd","card":"{CARD}","pad":"{padding}"}}'.encode())

    add(conversation, MessageDraft(Role.USER, [block]))

    [stored] = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert CARD.encode() not in stored
    assert cuts() == [("part", 1, 0, "card")]


def test_a_fork_copies_what_was_cut(conversation, switch):
    switch(SecretKind.CARD)
    add(conversation, user(f"charge {CARD}"))

    fork_conversation(conversation_id=conversation.pk, leaf_seq=1, actor=AGENT, now=NOW)

    assert texts() == [f"charge {CUT}"] * 2


class TestImports:
    @pytest.fixture
    def imported(self, account, tmp_path):
        mapping = {
            "u": node("user", f"charge {CARD}"),
            "a": node("assistant", "Done.", "u"),
            "odd": {"parent": "a", "children": [], "message": {"author": 7, "note": CARD}},
        }
        chat = {"conversation_id": "k1", "title": f"Card {CARD}", "mapping": mapping, "current_node": "a"}

        def run():
            path = write(tmp_path, [chat], "export.json")
            return import_file(
                path=path, realm=account.realm, actor=AGENT, now=NOW, account=account.external_id
            )

        return run

    def test_an_import_is_cut_with_its_original_and_its_quarantine(self, imported, switch):
        switch(SecretKind.CARD)

        imported()

        assert everywhere(CARD) == []
        assert texts() == [f"charge {CUT}", "Done."]
        assert Conversation.objects.get().title == f"Card {CUT}"
        raw = [open_raw_body(one) for one in RawBody.objects.all()]
        assert len(raw) == 2
        assert not [one for one in raw if CARD.encode() in one]
        assert cuts() == [("part", 1, 0, "card")]

    def test_the_same_file_again_adds_nothing(self, imported, switch):
        switch(SecretKind.CARD)
        imported()

        report = imported()

        assert report.counts["conversations unchanged"] == 1
        assert RedactionSpan.objects.count() == 1
        assert RawBody.objects.count() == 2

    def test_switched_off_it_is_as_it_was(self, imported):
        imported()

        assert texts() == [f"charge {CARD}", "Done."]
        assert not RedactionSpan.objects.exists()


def node(role, text, parent=None):
    message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}}
    return {"parent": parent, "children": [], "message": message}
