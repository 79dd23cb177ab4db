"""One HTTP attempt as it is kept on its way: the two bodies as bytes, and what is known beside them."""

import json
import secrets
from dataclasses import dataclass, field
from typing import Any, Final

from counterfoil_recorder.tickets import Ticket

VERSION: Final = 1


@dataclass(slots=True)
class Parcel:
    """An exchange ready to be sent. `response_body` is None where no answer began to arrive.

    `order` grows with each exchange that is handed over: the store must have a call before the
    next call of its conversation. `facts` are the members of the store's `exchange`; no header
    that could hold a key is among them.
    """

    order: int
    exchange_id: str
    facts: dict[str, Any]
    request_body: bytes = field(repr=False)
    response_body: bytes | None = field(repr=False)
    ticket: Ticket = field(repr=False)
    attempts: int = 0

    @property
    def size(self) -> int:
        return len(self.request_body) + len(self.response_body or b"")


def to_file(parcel: Parcel) -> bytes:
    """Write a parcel as its file in the spool: one line of JSON, then the two bodies."""
    head = {
        "version": VERSION,
        "exchange": parcel.facts,
        "request_bytes": len(parcel.request_body),
        "response_bytes": None if parcel.response_body is None else len(parcel.response_body),
    }
    return b"".join((json.dumps(head).encode(), b"\n", parcel.request_body, parcel.response_body or b""))


def from_file(content: bytes, *, order: int, ticket: Ticket | None = None) -> Parcel:
    """Read a file of the spool; ValueError where it is not whole."""
    line, newline, bodies = content.partition(b"\n")
    head = json.loads(line)
    if not newline or not isinstance(head, dict) or head.get("version") != VERSION:
        raise ValueError("no exchange of this version of the recorder")
    facts, request_bytes, response_bytes = head["exchange"], head["request_bytes"], head["response_bytes"]
    if len(bodies) != request_bytes + (response_bytes or 0):
        raise ValueError("its bodies are not as long as it says")
    exchange_id = str(facts["exchange_id"])
    return Parcel(
        order=order,
        exchange_id=exchange_id,
        facts=facts,
        request_body=bodies[:request_bytes],
        response_body=None if response_bytes is None else bodies[request_bytes:],
        ticket=ticket or Ticket(exchange_id),
    )


def to_multipart(parcel: Parcel) -> tuple[str, bytes]:
    """Return the media type and the body that the store takes: the bodies are in it as they are."""
    boundary = secrets.token_hex(24)
    pieces = [_part(boundary, "exchange", "application/json", json.dumps(parcel.facts).encode())]
    pieces.append(_part(boundary, "request_body", "application/octet-stream", parcel.request_body))
    if parcel.response_body is not None:
        pieces.append(_part(boundary, "response_body", "application/octet-stream", parcel.response_body))
    pieces.append(f"--{boundary}--\r\n".encode())
    return f"multipart/form-data; boundary={boundary}", b"".join(pieces)


def _part(boundary: str, name: str, media_type: str, content: bytes) -> bytes:
    head = (
        f"--{boundary}\r\n"
        f'Content-Disposition: form-data; name="{name}"; filename="{name}"\r\n'
        f"Content-Type: {media_type}\r\n\r\n"
    )
    return b"".join((head.encode(), content, b"\r\n"))
