"""Recorded provider traffic: JSON lines of requests and answers, one file a recorded sequence."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conversations.vocabulary import Dialect
from conversations.wire.dialects import dialect_of_path

# Bodies that are known to be the bytes of the wire; others were written anew by their recorder.
_TRUE_TO_THE_BYTE = ("exact(content-length)", "raw")


@dataclass(frozen=True, slots=True)
class RecordedCall:
    cassette: str
    place: int
    dialect: Dialect
    request_body: bytes
    response_body: bytes | None
    http_status: int


def read_cassettes(folder: Path) -> Iterator[list[RecordedCall]]:
    """Give the calls of each file whose request bodies are true to the byte, in their order."""
    for path in sorted(folder.glob("cassettes_*/**/*.jsonl")):
        calls = [
            call
            for place, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
            if (call := _read_call(json.loads(line), str(path.relative_to(folder)), place)) is not None
        ]
        if calls:
            yield calls


def _read_call(record: dict, cassette: str, place: int) -> RecordedCall | None:
    dialect = dialect_of_path(record["path"])
    is_true = record["request_fidelity"] in _TRUE_TO_THE_BYTE
    if record["method"] != "POST" or dialect is None or not is_true:
        return None
    answer = record["response_body"]
    return RecordedCall(
        cassette=cassette,
        place=place,
        dialect=dialect,
        request_body=record["request_body"].encode(),
        response_body=None if answer is None else answer.encode(),
        http_status=record["response_status"],
    )
