"""The body that would be sent next for any leaf, and the provider's rules that it would break."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from conversations.drafts import MessageDraft
from conversations.reads.path import StoredMessage, read_path
from conversations.replay.bodies import NotReplayableError, refuse_lost
from conversations.replay.envelopes import minimal_envelope, point_at_response
from conversations.replay.renderers import BodyPieces, render_body
from conversations.replay.styles import style_of
from conversations.replay.translate import translate_path
from conversations.vocabulary import Dialect
from conversations.wire.shapes import COMPACT, Violation
from conversations.wire.validate import declared_tools, find_violations


@dataclass(frozen=True, slots=True)
class NextBody:
    """What going on from a leaf would send. `notes` say what another dialect could not take."""

    body: bytes
    dialect: Dialect
    violations: list[Violation]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Terms:
    """Model, preamble, tools and parameters, as an attempt had them."""

    pieces: BodyPieces
    renderer: int
    base_seq: int | None = None


def next_body_at(
    *, conversation_id: UUID, leaf_seq: int, dialect: Dialect | None = None, model: str = ""
) -> NextBody:
    """Return the body for going on from the leaf, in the dialect of the path's last attempt or in another.

    The last attempt on the path gives model, preamble, tools and parameters, on a
    path without one the conversation's last. Where none speaks that dialect nothing but the model is
    set: `model`, or that of the last answer on the path that was imported with its dialect and model.
    Raises NotReplayableError where a message's bytes are gone or nothing says
    which model to ask.
    """
    place = f"conversation {conversation_id}, message {leaf_seq}"
    path = read_path(conversation_id=conversation_id, leaf_seq=leaf_seq)
    if not path:
        raise NotReplayableError("there is no such message", place=place)
    terms = _terms(conversation_id, path, dialect)
    if terms is None:
        if dialect is None or not model:
            dialect, model = _named(conversation_id, path, dialect, model)
        terms = _bare_terms(dialect, model, place)
    sent = [message for message in path if message.seq > (terms.base_seq or 0)]
    refuse_lost(sent, place)
    return _compose(terms, sent)


def _compose(terms: Terms, path: Sequence[StoredMessage]) -> NextBody:
    dialect = terms.pieces.dialect
    translated = translate_path(path, dialect=dialect)
    messages: list[MessageDraft] = [message for _, message in translated.messages]
    violations = find_violations(
        messages,
        dialect=dialect,
        names=[f"message {seq}" for seq, _ in translated.messages],
        tools=None if terms.pieces.tools is None else declared_tools(terms.pieces.tools),
        is_whole=terms.base_seq is None,
    )
    body = render_body(terms.pieces, messages, renderer=terms.renderer)
    return NextBody(body=body, dialect=dialect, violations=violations, notes=translated.notes)


def _terms(conversation_id: UUID, path: Sequence[StoredMessage], dialect: Dialect | None) -> Terms | None:
    """Read the last attempt on the path that kept its pieces; else the conversation's last."""
    row = _first_row(LAST_TERMS, conversation_id, path, dialect)
    if row is None:
        return None
    spoken, style, renderer, previous, hosted, response_id, answer_seq, *fragments = row
    envelope, *optional = fragments
    envelope = bytes(envelope)
    preamble, leading, tools = (None if piece is None else bytes(piece) for piece in optional)
    is_on_path = any(message.seq == answer_seq for message in path)
    base_seq = answer_seq if is_on_path and (previous or hosted) else None
    if previous and is_on_path:
        # The provider holds what came before, under the id of the answer that is gone on from.
        envelope = point_at_response(envelope, response_id)
    pieces = BodyPieces(
        dialect=Dialect(spoken),
        style=style_of(style),
        envelope=envelope,
        preamble=preamble,
        leading=leading,
        tools=tools,
    )
    return Terms(pieces=pieces, renderer=renderer, base_seq=base_seq)


LAST_TERMS = """
SELECT g.dialect, g.body_style, g.body_renderer, g.previous_response_id, g.hosted_conversation_id,
    g.provider_response_id, g.message_seq, e.body, p.body, l.body, t.body
FROM conversations_generation g
JOIN conversations_fragment e ON e.id = g.envelope_id
LEFT JOIN conversations_fragment p ON p.id = g.preamble_id
LEFT JOIN conversations_fragment l ON l.id = g.leading_id
LEFT JOIN conversations_fragment t ON t.id = g.tools_id
WHERE g.conversation_id = %(conversation)s
    AND (%(dialect)s::text IS NULL OR g.dialect = %(dialect)s::text)
ORDER BY
    CASE WHEN coalesce(g.message_seq, g.leaf_seq) = ANY(%(seqs)s::int[])
        THEN coalesce(g.message_seq, g.leaf_seq) END DESC NULLS LAST,
    g.number DESC
LIMIT 1
"""


NAMED_TERMS = """
SELECT g.dialect, coalesce(nullif(g.served_model, ''), g.requested_model) AS model
FROM conversations_generation g
WHERE g.conversation_id = %(conversation)s AND g.message_seq = ANY(%(seqs)s::int[]) AND g.dialect <> ''
    AND (%(dialect)s::text IS NULL OR g.dialect = %(dialect)s::text)
    AND coalesce(nullif(g.served_model, ''), g.requested_model) !~ '^(<|$)'
ORDER BY g.message_seq DESC, g.number DESC LIMIT 1
"""


def _named(
    conversation_id: UUID, path: Sequence[StoredMessage], dialect: Dialect | None, model: str
) -> tuple[Dialect | None, str]:
    """Fill in what an imported answer tells of its dialect and model; `<...>` stands for no model at all."""
    row = _first_row(NAMED_TERMS, conversation_id, path, dialect)
    return (dialect, model) if row is None else (Dialect(row[0]), model or row[1])


def _first_row(
    statement: str, conversation_id: UUID, path: Sequence[StoredMessage], dialect: Dialect | None
) -> tuple[Any, ...] | None:
    """Ask one of the two statements about a path; `dialect` narrows it down."""
    with connection.cursor() as cursor:
        cursor.execute(
            statement,
            {
                "conversation": conversation_id,
                "seqs": [message.seq for message in path],
                "dialect": dialect.value if dialect else None,
            },
        )
        return cursor.fetchone()


def _bare_terms(dialect: Dialect | None, model: str, place: str) -> Terms:
    if dialect is None or not model:
        raise NotReplayableError(
            "no attempt on this path says which model to ask: name the dialect and the model", place=place
        )
    pieces = BodyPieces(dialect=dialect, style=COMPACT, envelope=minimal_envelope(dialect, model))
    return Terms(pieces=pieces, renderer=1)
