"""A conversation that is cold enough for the archive, and what can be seen of its bytes."""

from datetime import timedelta
from pathlib import Path

import pytest

from conversations.drafts import MessageDraft, PartDraft
from conversations.models import Archive, Conversation, MessagePart
from conversations.reads.path import read_path
from conversations.services.appending import append_message
from conversations.services.blobs import LARGE, blob_storage
from conversations.vocabulary import PartType, Role
from tests.conversations.drafts import assistant, calls, results
from tests.retention.conftest import CUSTOMER, NOW, keep

COLD = NOW + timedelta(days=31)


@pytest.fixture
def archive_after_30(db):
    keep(data_class="conversation_bytes", action="archive", days=30)


@pytest.fixture
def full(make_talk):
    """A conversation with every way in which a part holds bytes: text, payload, shell, blob, not UTF-8."""
    talk = make_talk(words="Where is order 1042?")
    odd = MessageDraft(  # noqa: S604  (a message's shell is JSON)
        role=Role.USER,
        shell='{"role":"user","name":"zoë","content":[\x03]}',
        parts=[
            PartDraft(PartType.TEXT, "and this", None, '{"text":\x02,"type":"text"}'),
            PartDraft(PartType.IMAGE, payload=b'{"type":"image","data":"' + b"A" * LARGE + b'"}'),
            PartDraft(PartType.OTHER, payload=b"\xff\xfe\x00", provider_type="odd"),
            PartDraft(
                PartType.TEXT,
                text="nul \ufffd",
                payload=b'{"type":"text","text":"\\u0000"}',
                is_text_copy=True,
            ),
        ],
    )
    for message in (calls("t1"), results("t1"), odd, assistant("On its way.")):
        append_message(conversation_id=talk.id, message=message, actor=CUSTOMER, now=NOW)
    return talk


def states_of(talk):
    return set(MessagePart.objects.filter(conversation_id=talk.id).values_list("bytes_state", flat=True))


def drafts_of(talk):
    head = Conversation.objects.get(pk=talk.id).head_seq
    return [message.draft for message in read_path(conversation_id=talk.id, leaf_seq=head)]


def damage(talk):
    path = Path(blob_storage().path(Archive.objects.get(pk=talk.id).storage_key))
    whole = path.read_bytes()
    path.write_bytes(whole[:20] + b"damage" + whole[26:])
