"""A recorded call made again: by the provider's own SDK, at a provider that answers what was recorded."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conversations.vocabulary import Dialect
from conversations.wire.dialects import dialect_of_path
from evidence.replay_server import Reply

_PIECES = 7
# Every so manyth answer comes compressed, and every so manyth stream is closed by its reader half way.
_GZIPPED, _CLOSED_EARLY = 3, 11


@dataclass(frozen=True, slots=True)
class Call:
    """`dialect` is None for what is no conversation, and must pass unrecorded."""

    number: int
    name: str
    cassette: str
    path: str
    method: str
    dialect: Dialect | None
    request_body: bytes
    reply: Reply

    @property
    def is_stream(self) -> bool:
        return self.reply.media_type == "text/event-stream"

    @property
    def is_closed_early(self) -> bool:
        return self.is_stream and self.number % _CLOSED_EARLY == 0

    @property
    def request(self) -> dict[str, Any]:
        """The members of the request; empty where it is none that an SDK would make."""
        try:
            body = json.loads(self.request_body)
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}


def read_calls(folder: Path) -> Iterator[Call]:
    """Give every call of the cassettes, conversations or not, in their order."""
    number = 0
    for path in sorted(folder.glob("cassettes_*/**/*.jsonl")):
        cassette = str(path.relative_to(folder))
        for place, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            record = json.loads(line)
            number += 1
            yield Call(
                number=number,
                name=f"{cassette}:{place}",
                cassette=cassette,
                path=record["path"],
                method=record["method"],
                dialect=dialect_of_path(record["path"]) if record["method"] == "POST" else None,
                request_body=(record["request_body"] or "").encode(),
                reply=_reply(record, number),
            )


def _reply(record: dict[str, Any], number: int) -> Reply:
    body = (record["response_body"] or "").encode()
    # Some recorders left the content type out; the body tells.
    is_stream = body.startswith((b"event:", b"data:", b": "))
    return Reply(
        body=body,
        status=record["response_status"],
        media_type="text/event-stream" if is_stream else "application/json",
        pieces=_PIECES if is_stream else 1,
        is_gzipped=number % _GZIPPED == 0,
        # No SDK waits and tries again: each call is one attempt, with the recorder and without.
        headers={"x-should-retry": "false", "request-id": f"req_{number}", "x-request-id": f"req_{number}"},
    )
