"""Redaction on demand: secrets that are stored already are cut, in place, for good."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection, transaction

from access.actors import Actor, ActorKind
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from conversations.drafts import PartDraft
from conversations.models import Conversation, Generation, MessagePart, RawBody
from conversations.redaction.cutting import cut_body, cut_text
from conversations.redaction.drafts import cut_part, note_part_cuts, spans_of
from conversations.replay import ReplayError, request_body_of
from conversations.services.blobs import keep_large_payload, read_blob
from conversations.services.raw_bodies import open_raw_body
from conversations.vocabulary import BodyProof, PartBytes, PartType, SecretKind
from retention.archiving import archived_among, return_bytes
from retention.blockers import ROWS_ONLY, blockers_of
from retention.errors import HeldError
from retention.locks import lock_accounts, lock_conversations
from retention.purging.raw_bodies import delete_raw_bodies
from retention.purging.stripping import lose_bodies


@dataclass(frozen=True, slots=True)
class Redacted:
    """How many blocks were cut and how often, and what else lost something."""

    parts: int
    cuts: int
    raw_bodies: int = 0
    bodies_lost: int = 0
    has_title: bool = False
    errors: int = 0
    fragments: int = 0

    @property
    def is_nothing(self) -> bool:
        found = self.parts or self.raw_bodies or self.has_title or self.errors or self.fragments
        return not (found or self.bodies_lost)


@transaction.atomic
def redact_conversation(
    *,
    conversation_id: UUID,
    kinds: frozenset[SecretKind],
    user: User,
    now: datetime,
    is_dry_run: bool = False,
    address: str | None = None,
) -> Redacted:
    """Cut these kinds out of every block, the title and the words of errors, for good.

    Bodies that held them cannot be given back any more, and raw bodies in which one stands are deleted.
    What bodies share with those of other conversations (preamble, tools) is let go of, and swept where
    no other names it.
    Archived bytes come back first; ArchiveError where they cannot. Raises HeldError while it is held.
    A dry run does the same, is rolled back, and writes no line of the log; files that it brought back
    from the archive belong to no row and are swept.
    """
    found = Conversation.objects.values_list("account_id", "account__realm_id")
    account_id, realm_id = found.get(pk=conversation_id)
    lock_accounts([account_id])
    lock_conversations([conversation_id], waits=True)
    # A second statement: a hold placed before we had the lock is visible only from here on.
    held = [
        one for one in blockers_of([conversation_id]).get(conversation_id, []) if one.kind not in ROWS_ONLY
    ]
    if held:
        raise HeldError("held", held[0].words, place=f"conversation {conversation_id}")
    if archived_among([conversation_id]):
        # What is cut out of the rows must not stay in the file: it goes, and a new one is made later.
        return_bytes(conversation_id=conversation_id)
    whole = _bodies(conversation_id)
    cut = _cut_parts(conversation_id, kinds, now, is_dry_run=is_dry_run)
    raw_bodies, lost = _delete_raw(conversation_id, kinds)
    if cut:
        lost += lose_bodies(conversation_id=conversation_id, seqs={seq for seq, _ in cut})
    fragments, lost_by_them = _let_go_of_fragments(conversation_id, kinds)
    lost += lost_by_them + _lose_patched(conversation_id, kinds)
    _forget_digests(conversation_id, whole)
    redacted = Redacted(
        parts=len(cut),
        cuts=sum(cuts for _, cuts in cut),
        raw_bodies=raw_bodies,
        bodies_lost=lost,
        has_title=_cut_title(conversation_id, kinds),
        errors=_cut_errors(conversation_id, kinds),
        fragments=fragments,
    )
    if is_dry_run:
        transaction.set_rollback(True)
        return redacted
    log_access(
        actor=Actor(ActorKind.STAFF, str(user.pk)),
        action=AccessAction.CHANGE,
        target_kind=TargetKind.CONVERSATION,
        target_id=str(conversation_id),
        realm_id=realm_id,
        account_id=account_id,
        conversation_id=conversation_id,
        row_count=len(cut),
        now=now,
        address=address,
    )
    return redacted


def _cut_parts(
    conversation_id: UUID, kinds: frozenset[SecretKind], now: datetime, *, is_dry_run: bool
) -> list[tuple[int, int]]:
    """Return the messages whose parts were cut, each with how many cuts."""
    found: list[tuple[int, int]] = []
    parts = MessagePart.objects.filter(
        conversation_id=conversation_id, bytes_state__in=[PartBytes.PRESENT, PartBytes.REDACTED]
    ).select_related("blob")
    for part in parts.order_by("seq", "ordinal"):
        draft = _draft(part)
        after = cut_part(draft, kinds=kinds)
        if after is draft:
            continue
        _write(part, after, is_dry_run=is_dry_run)
        spans = [(part.seq, part.ordinal, span) for span in spans_of(after)]
        note_part_cuts(conversation_id=conversation_id, spans=spans, now=now)
        found.append((part.seq, len(spans)))
    return found


def _draft(part: MessagePart) -> PartDraft:
    payload = read_blob(storage_key=part.blob.storage_key) if part.blob is not None else part.payload
    return PartDraft(
        PartType(part.type),
        part.text,
        None if payload is None else bytes(payload),
        part.shell,
        media_type=part.media_type,
    )


def _write(part: MessagePart, after: PartDraft, *, is_dry_run: bool) -> None:
    blob_id = None if is_dry_run else keep_large_payload(after)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE conversations_messagepart SET text = %s, payload = %s, shell = %s, blob_id = %s,"
            " bytes_state = 'redacted' WHERE conversation_id = %s AND seq = %s AND ordinal = %s",
            [
                after.text,
                None if blob_id is not None else after.payload,
                after.shell,
                blob_id,
                part.conversation_id,
                part.seq,
                part.ordinal,
            ],
        )


def _delete_raw(conversation_id: UUID, kinds: frozenset[SecretKind]) -> tuple[int, int]:
    """Delete the raw bodies in which a secret stands; return how many, and how many bodies are lost by it."""
    raw = RawBody.objects.filter(conversation_id=conversation_id).order_by("pk").iterator(chunk_size=20)
    ids = [one.pk for one in raw if cut_body(open_raw_body(one), kinds=kinds).spans]
    gone = delete_raw_bodies(ids) if ids else {"rawbody": 0, "body_lost": 0}
    return gone["rawbody"], gone["body_lost"]


_FRAGMENTS = """
SELECT DISTINCT f.id, f.body FROM conversations_generation g
JOIN conversations_fragment f ON f.id IN (g.preamble_id, g.leading_id, g.tools_id, g.envelope_id)
WHERE g.conversation_id = %s
"""
_COLUMNS = ("preamble_id", "leading_id", "tools_id", "envelope_id")
_LET_GO = f"""
UPDATE conversations_generation SET body_patch = NULL,
    body_proof = CASE WHEN body_proof IN ('exact', 'patched') THEN 'lost' ELSE body_proof END,
    {", ".join(f"{name} = CASE WHEN {name} = ANY(%(ids)s) THEN NULL ELSE {name} END" for name in _COLUMNS)}
WHERE conversation_id = %(id)s AND ({" OR ".join(f"{name} = ANY(%(ids)s)" for name in _COLUMNS)})
"""


def _let_go_of_fragments(conversation_id: UUID, kinds: frozenset[SecretKind]) -> tuple[int, int]:
    """Let go of fragments in which a secret stands; return how many, and how many bodies are lost by it."""
    with connection.cursor() as cursor:
        cursor.execute(_FRAGMENTS, [conversation_id])
        ids = [pk for pk, body in cursor.fetchall() if cut_body(bytes(body), kinds=kinds).spans]
        if not ids:
            return 0, 0
        cursor.execute(_LET_GO, {"id": conversation_id, "ids": ids})
        return len(ids), cursor.rowcount


def _lose_patched(conversation_id: UUID, kinds: frozenset[SecretKind]) -> int:
    """Lose bodies whose patch holds a secret that no row has; return how many."""
    patched = Generation.objects.filter(conversation_id=conversation_id, body_proof=BodyProof.PATCHED)
    numbers = [
        number
        for number in patched.values_list("number", flat=True)
        if _has_secret(conversation_id, number, kinds)
    ]
    return patched.filter(number__in=numbers).update(body_proof=BodyProof.LOST, body_patch=None)


def _has_secret(conversation_id: UUID, number: int, kinds: frozenset[SecretKind]) -> bool:
    """Whether the body holds a secret. Of one that cannot be made nobody can say that it does not."""
    try:
        body = request_body_of(conversation_id=conversation_id, number=number)
    except ReplayError:
        return True
    return bool(cut_body(body, kinds=kinds).spans)


def _bodies(conversation_id: UUID) -> list[int]:
    """Return the attempts whose bodies can be given back."""
    there = Generation.objects.filter(conversation_id=conversation_id).exclude(body_proof=BodyProof.LOST)
    return list(there.values_list("number", flat=True))


def _forget_digests(conversation_id: UUID, whole: list[int]) -> None:
    """Let go of the digests of bodies that were lost just now: a card number is found by trying."""
    lost = Generation.objects.filter(conversation_id=conversation_id, number__in=whole)
    lost.filter(body_proof=BodyProof.LOST, is_redacted=False).update(body_sha256=None)


def _cut_title(conversation_id: UUID, kinds: frozenset[SecretKind]) -> bool:
    conversation = Conversation.objects.get(pk=conversation_id)
    cut = cut_text(conversation.title, kinds=kinds)
    if cut.spans:
        conversation.title = cut.text
        conversation.save(update_fields=["title"])
    return bool(cut.spans)


def _cut_errors(conversation_id: UUID, kinds: frozenset[SecretKind]) -> int:
    count = 0
    said = Generation.objects.filter(conversation_id=conversation_id).exclude(error_message="")
    for number, words in said.values_list("number", "error_message"):
        cut = cut_text(words, kinds=kinds)
        if cut.spans:
            Generation.objects.filter(conversation_id=conversation_id, number=number).update(
                error_message=cut.text
            )
            count += 1
    return count
