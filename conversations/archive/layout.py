"""How a conversation's bytes lie in its archive file: zstd over lines of JSON, the first names the layout.

A line for each part (`seq`, `ordinal`, the state its bytes were in, text, payload, shell) and one for
each message that has a shell of its own. A payload stands as text where it is UTF-8, else in base64;
either way the very bytes come back.
"""

import base64
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import orjson
import zstandard

from conversations.vocabulary import PartBytes

VERSION: Final = 1
# Cold bytes are written once and read rarely: a little slower and a tenth smaller than the default.
_LEVEL: Final = 9


class LayoutError(Exception):
    """The bytes are no archive file that this program can read."""


@dataclass(frozen=True, slots=True)
class ArchivedPart:
    """One part's bytes, as its row held them; `payload` also where the row named a blob."""

    state: PartBytes
    text: str | None
    payload: bytes | None
    shell: str | None
    is_text_copy: bool


@dataclass(slots=True)
class ArchivedBytes:
    """All bytes of one conversation: parts by message and place, shells by message."""

    parts: dict[tuple[int, int], ArchivedPart] = field(default_factory=dict)
    shells: dict[int, str] = field(default_factory=dict)


def pack(*, conversation_id: UUID, content: ArchivedBytes) -> bytes:
    lines = [{"counterfoil_archive": VERSION, "conversation": str(conversation_id)}]
    lines += [_part_line(seq, ordinal, part) for (seq, ordinal), part in sorted(content.parts.items())]
    lines += [{"seq": seq, "shell": shell} for seq, shell in sorted(content.shells.items())]
    return zstandard.ZstdCompressor(level=_LEVEL).compress(b"\n".join(orjson.dumps(line) for line in lines))


def unpack(file: bytes, *, conversation_id: UUID) -> ArchivedBytes:
    """Read a whole file; raises LayoutError where it is another conversation's, or no archive."""
    try:
        head, *lines = [orjson.loads(line) for line in opened(file).splitlines()]
        if head != {"counterfoil_archive": VERSION, "conversation": str(conversation_id)}:
            raise LayoutError("it does not begin as the archive of this conversation")
        content = ArchivedBytes()
        for line in lines:
            if "ordinal" in line:
                content.parts[line["seq"], line["ordinal"]] = _part(line)
            else:
                content.shells[line["seq"]] = line["shell"]
    except (zstandard.ZstdError, ValueError, KeyError, TypeError) as error:
        raise LayoutError(f"it cannot be read: {type(error).__name__}") from error
    return content


def opened(file: bytes) -> bytes:
    """Return the lines of the file; raises ZstdError where it is not compressed as archives are."""
    return zstandard.ZstdDecompressor().decompress(file)


def is_compressed(file: bytes) -> bool:
    return file.startswith(zstandard.FRAME_HEADER)


def _part_line(seq: int, ordinal: int, part: ArchivedPart) -> dict[str, Any]:
    line: dict[str, Any] = {"seq": seq, "ordinal": ordinal, "state": part.state.value}
    if part.text is not None:
        line["text"] = part.text
    if part.shell is not None:
        line["shell"] = part.shell
    if part.is_text_copy:
        line["text_copy"] = True
    if part.payload is not None:
        try:
            line["payload"] = part.payload.decode("utf-8")
        except UnicodeDecodeError:
            line["payload_base64"] = base64.b64encode(part.payload).decode("ascii")
    return line


def _part(line: dict[str, Any]) -> ArchivedPart:
    payload: bytes | None = None
    if "payload" in line:
        payload = line["payload"].encode("utf-8")
    elif "payload_base64" in line:
        payload = base64.b64decode(line["payload_base64"], validate=True)
    return ArchivedPart(
        state=PartBytes(line["state"]),
        text=line.get("text"),
        payload=payload,
        shell=line.get("shell"),
        is_text_copy=line.get("text_copy", False),
    )
