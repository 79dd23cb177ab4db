"""A later export of an archived conversation goes on by the digests as if it had not been away."""

import json
from datetime import timedelta

import pytest

from conversations.identity import path_digests
from conversations.models import Account, Archive, Conversation, Message
from conversations.reads.path import read_path
from conversations.services.appending import append_message
from conversations.services.importing.importing import import_file
from retention.archiving import archive_bytes
from retention.purging.stripping import strip_parts
from tests.conversations.drafts import assistant, user
from tests.conversations.imports.exports import IMPORTER
from tests.retention.conftest import CUSTOMER, NOW

pytestmark = pytest.mark.django_db

ASKED = {"role": "user", "content": "Where is order 1042?"}
CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": '{"order": 1042}'}}
    ],
}
FOUND = {"role": "tool", "tool_call_id": "call_1", "content": "on its way"}
ANSWERED = {"role": "assistant", "content": "On its way."}
THANKED = {"role": "user", "content": "Thank you."}


@pytest.fixture
def imported(realm, tmp_path):
    def run(*messages):
        path = tmp_path / "dialogues.jsonl"
        path.write_text(json.dumps({"id": "d-1", "messages": messages}) + "\n")
        report = import_file(path=path, realm=realm, actor=IMPORTER, now=NOW, account="c-7")
        assert report.counts["messages"], report
        return Conversation.objects.get()

    return run


def digests_of(conversation):
    messages = Message.objects.filter(conversation=conversation).order_by("seq")
    return [bytes(digest) for digest in messages.values_list("path_digest", flat=True)]


def expected_of(conversation):
    """What the words give, read back from wherever they are."""
    path = read_path(conversation_id=conversation.pk, leaf_seq=conversation.head_seq)
    return path_digests([one.draft for one in path], account_id=Account.objects.get().pk)


@pytest.mark.parametrize("further", [(THANKED,), (THANKED, ANSWERED)])
@pytest.mark.parametrize("before", [(ASKED, ANSWERED), (ASKED, CALLED, FOUND, ANSWERED)])
def test_digests_go_on_behind_archived_messages(imported, before, further):
    archive_bytes(conversation_id=imported(*before).pk, now=NOW + timedelta(days=1))

    conversation = imported(*before, *further)

    assert Archive.objects.count() == 1
    assert digests_of(conversation) == expected_of(conversation)


@pytest.mark.parametrize("is_gone", [False, True])
def test_digests_go_on_behind_a_turn_whether_its_words_are_away_or_gone(imported, is_gone):
    conversation = imported(ASKED, ANSWERED)
    before = expected_of(conversation)
    if is_gone:
        strip_parts(conversation_ids=[conversation.pk])
    else:
        archive_bytes(conversation_id=conversation.pk, now=NOW)
    written = append_message(conversation_id=conversation.pk, message=user("Thanks"), actor=CUSTOMER, now=NOW)

    digests = digests_of(conversation)
    assert digests[:2] == before
    assert (
        digests[written.seq - 1]
        == path_digests(
            [user(ASKED["content"]), assistant(ANSWERED["content"]), user("Thanks")],
            account_id=Account.objects.get().pk,
        )[2]
    )


def test_what_goes_on_with_a_turn_whose_words_are_gone_is_taken_for_nothing_else(imported):
    """Without them it would look as if nothing else had been said in the turn."""
    conversation = imported(ASKED, ANSWERED)
    strip_parts(conversation_ids=[conversation.pk])

    append_message(
        conversation_id=conversation.pk, message=assistant("It comes tomorrow."), actor=CUSTOMER, now=NOW
    )

    alone = path_digests(
        [user(ASKED["content"]), assistant("It comes tomorrow.")], account_id=Account.objects.get().pk
    )
    assert digests_of(conversation)[2] not in alone
