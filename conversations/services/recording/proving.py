"""How a body will be given back: rendered from rows, patched, or kept whole. Proved before it is written."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from conversations.drafts import MessageDraft
from conversations.replay.patch import make_patch
from conversations.replay.renderers import AS_STORED, RESTYLED, SORTED_ARGUMENTS, BodyPieces, render_body
from conversations.replay.styles import style_number
from conversations.vocabulary import BodyProof, FragmentKind
from conversations.wire.shapes import ParsedRequest, WireError

# A patch this small is not worth looking for a smaller one.
_SMALL_PATCH = 64
_SMALL_SHARE = 200


@dataclass(frozen=True, slots=True)
class Proof:
    """`columns` are the Generation's; VERBATIM asks for the body to be kept beside it."""

    proof: BodyProof
    columns: dict[str, Any]


def prove_body(
    *, body: bytes, request: ParsedRequest | None, path: Sequence[MessageDraft], now: datetime
) -> Proof:
    """Render the body from its stored pieces and say what else is needed to get the sent bytes back."""
    columns: dict[str, Any] = {
        **dict.fromkeys(_REBUILDING_COLUMNS),
        "body_sha256": hashlib.sha256(body).digest(),
        "body_size": len(body),
    }
    rendering = None if request is None else find_rendering(body=body, request=request, path=path)
    if request is None or rendering is None:
        return Proof(BodyProof.VERBATIM, {**columns, "body_proof": BodyProof.VERBATIM.value})
    proof = BodyProof.EXACT if rendering.patch is None else BodyProof.PATCHED
    columns |= _fragment_columns(request, now=now)
    columns |= {
        "body_proof": proof.value,
        "body_style": style_number(request.style),
        "body_renderer": rendering.renderer,
        "body_patch": rendering.patch,
    }
    return Proof(proof, columns)


_FRAGMENT_COLUMNS = ("preamble_id", "leading_id", "tools_id", "envelope_id")
_REBUILDING_COLUMNS = (*_FRAGMENT_COLUMNS, "body_style", "body_renderer", "body_patch")


class Rendering(NamedTuple):
    """The renderer that comes closest, and the patch still needed; none where it gives the body."""

    renderer: int
    patch: bytes | None


def find_rendering(*, body: bytes, request: ParsedRequest, path: Sequence[MessageDraft]) -> Rendering | None:
    """Return the first renderer that comes close enough, else the closest; None where none comes near."""
    pieces = BodyPieces(
        dialect=request.dialect,
        style=request.style,
        envelope=request.envelope,
        preamble=request.preamble,
        leading=request.leading,
        tools=request.tools,
    )
    best: Rendering | None = None
    for renderer in (AS_STORED, RESTYLED, SORTED_ARGUMENTS):
        try:
            rendered = render_body(pieces, path, renderer=renderer)
        except WireError:
            return None  # bytes of an older message are gone: only the body itself can prove itself
        if rendered == body:
            return Rendering(renderer, None)
        patch = make_patch(rendered=rendered, body=body)
        if patch is not None and (best is None or best.patch is None or len(patch) < len(best.patch)):
            best = Rendering(renderer, patch)
        if patch is not None and len(patch) <= max(_SMALL_PATCH, len(body) // _SMALL_SHARE):
            break
    return best


def _fragment_columns(request: ParsedRequest, *, now: datetime) -> dict[str, Any]:
    pieces = {
        "preamble_id": (FragmentKind.PREAMBLE, request.preamble),
        "leading_id": (FragmentKind.PREAMBLE, request.leading),
        "tools_id": (FragmentKind.TOOLS, request.tools),
        "envelope_id": (FragmentKind.ENVELOPE, request.envelope),
    }
    present = {
        name: (hashlib.sha256(body).digest(), kind, body)
        for name, (kind, body) in pieces.items()
        if body is not None
    }
    ids = keep_fragments({digest: (kind, body) for digest, kind, body in present.values()}, now=now)
    return {name: ids[digest] for name, (digest, _, _) in present.items()}


def keep_fragments(pieces: dict[bytes, tuple[FragmentKind, bytes]], *, now: datetime) -> dict[bytes, int]:
    """Store each piece once per digest; return their ids by digest.

    The rows are locked as a generation that refers to them would lock them, so
    that a sweep of unused ones cannot take them before it is written.
    """
    with connection.cursor() as cursor:
        found = _find_fragments(cursor, list(pieces))
        missing = sorted(digest for digest in pieces if digest not in found)
        if missing:
            cursor.execute(
                "INSERT INTO conversations_fragment (sha256, kind, body, created_at)"
                " SELECT digest, kind, body, %s FROM unnest(%s::bytea[], %s::text[], %s::bytea[])"
                " AS piece(digest, kind, body) ON CONFLICT (sha256) DO NOTHING",
                [
                    now,
                    missing,
                    [pieces[one][0].value for one in missing],
                    [pieces[one][1] for one in missing],
                ],
            )
            found |= _find_fragments(cursor, missing)
    return found


def _find_fragments(cursor: Any, digests: Sequence[bytes]) -> dict[bytes, int]:
    cursor.execute(
        "SELECT sha256, id FROM conversations_fragment WHERE sha256 = ANY(%s::bytea[])"
        " ORDER BY id FOR KEY SHARE",
        [list(digests)],
    )
    return {bytes(digest): int(number) for digest, number in cursor.fetchall()}
