"""An access request: all that is kept about a person, in one archive that streams.

Machine-readable (the trees import again to equal rows) and readable (each conversation as a page of
text). Nothing is gathered first: the archive leaves while it is made, whatever its size.
"""

import json
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.forms.models import model_to_dict

from conversations.archive.opening import ArchiveError, open_archive
from conversations.models import Account, Archive, Blob, Conversation, ConversationNote, MessagePart
from conversations.reads.path import read_path
from conversations.services.blobs import LARGE, read_blob
from conversations.services.exporting import export_trees
from ledger.models import ToolEffect

READ_ME = """What is kept about you

account.json               who you are to us
conversations.jsonl        every conversation with all its branches, one on each line, for machines
conversations/*.txt        each conversation as you saw it last, for people
files/*                    what was attached
payments.json              what was charged or refunded in them
notes.json                 what staff wrote about them

Times are UTC. What was deleted or cut out before is not in here.
"""
# Bytes are handed on in pieces of about this size.
PIECE = 64 * 1024


class _Pipe:
    """Where the archive is written to and read from: it cannot seek, so the archive is made to stream."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def write(self, data: bytes, /) -> int:
        self._waiting += data
        return len(data)

    def flush(self) -> None:
        """Nothing is kept back that a flush could push on."""

    def close(self) -> None:
        """The archive leaves its file open; whoever reads takes the rest."""

    def take(self) -> bytes:
        taken = bytes(self._waiting)
        self._waiting.clear()
        return taken

    def __len__(self) -> int:
        return len(self._waiting)


def export_person(*, account_ids: Iterable[UUID]) -> Iterator[bytes]:
    """Yield the archive of these accounts, piece by piece."""
    accounts = list(Account.objects.filter(pk__in=list(account_ids)).order_by("pk"))
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in _entries(accounts):
            with archive.open(name, "w", force_zip64=True) as entry:
                for piece in pieces:
                    entry.write(piece)
                    if len(pipe) >= PIECE:
                        yield pipe.take()
    yield pipe.take()


def count_conversations(*, account_ids: Iterable[UUID]) -> int:
    return Conversation.objects.filter(account_id__in=list(account_ids)).count()


def _entries(accounts: list[Account]) -> Iterator[tuple[str, Iterable[bytes]]]:
    ids = [account.pk for account in accounts]
    theirs = Conversation.objects.filter(account_id__in=ids)
    yield "README.txt", [READ_ME.encode()]
    yield "account.json", [_json([_account(account) for account in accounts])]
    yield "conversations.jsonl", export_trees(theirs)
    for conversation in theirs.order_by("pk").iterator(chunk_size=200):
        yield f"conversations/{conversation.pk}.txt", _readable(conversation)
    blobs = MessagePart.objects.filter(conversation__in=theirs.values("pk"), blob__isnull=False)
    for blob in Blob.objects.filter(pk__in=blobs.values("blob_id")).order_by("pk"):
        yield f"files/{blob.pk}", [read_blob(storage_key=blob.storage_key)]
    archived = Archive.objects.filter(conversation__in=theirs.values("pk")).order_by("pk")
    for conversation_id in archived.values_list("pk", flat=True):
        yield from _archived_files(conversation_id)
    effects = ToolEffect.objects.filter(account_id__in=ids).order_by("requested_at", "pk")
    yield "payments.json", [_json([_effect(effect) for effect in effects])]
    notes = ConversationNote.objects.filter(conversation__in=theirs.values("pk")).order_by("written_at", "pk")
    yield "notes.json", [_json(list(notes.values("conversation_id", "written_at", "text")))]


def _archived_files(conversation_id: UUID) -> Iterator[tuple[str, Iterable[bytes]]]:
    """What was attached to an archived conversation. A file that cannot be opened is said in its text."""
    try:
        content = open_archive(conversation_id=conversation_id)
    except ArchiveError:
        return
    for (seq, ordinal), part in sorted(content.parts.items()):
        if part.payload is not None and len(part.payload) > LARGE:
            yield f"files/{conversation_id}-{seq}-{ordinal}", [part.payload]


def _account(account: Account) -> dict[str, Any]:
    return model_to_dict(account, fields=["external_id", "label", "email", "closed_at"]) | {
        "id": account.pk,
        "created_at": account.created_at,
    }


def _effect(effect: ToolEffect) -> dict[str, Any]:
    return {
        "conversation": effect.conversation_id,
        "what": effect.operation,
        "tool": effect.tool_name,
        "state": effect.state,
        "amount_minor": effect.amount_minor,
        "settled_minor": effect.amount_settled_minor,
        "given_back_minor": effect.amount_compensated_minor,
        "currency": effect.currency,
        "reference": effect.external_ref,
        "requested_at": effect.requested_at,
        "settled_at": effect.settled_at,
    }


def _readable(conversation: Conversation) -> Iterator[bytes]:
    began = conversation.started_at or conversation.created_at
    yield f"{conversation.title or 'Conversation'}\nbegan {began}\n".encode()
    if conversation.head_seq is None:
        return
    for message in read_path(conversation_id=conversation.pk, leaf_seq=conversation.head_seq):
        yield f"\n{message.draft.role}:\n".encode()
        if message.lost_why:
            yield f"[{message.lost_why}]\n".encode()
        for part in message.draft.parts:
            if part.text is not None:
                yield part.text.encode("utf-8", "replace") + b"\n"
            elif part.payload is not None:
                yield f"[{part.type}: see conversations.jsonl]\n".encode()


def _json(value: Any) -> bytes:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False, indent=1).encode()
