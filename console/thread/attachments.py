"""Images and documents: what they are and how large, and their bytes for a download. Never shown.

Three places for the bytes of one: inside its block as base64, in blob storage
with the block around it, or elsewhere at an address that nobody here visits.
"""

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Final

from console.hostile import text_of
from console.thread import json_view
from conversations.reads.window import ShownPart

# What a file may be called by after a download; anything else is .bin.
_EXTENSIONS: Final = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "application/pdf": "pdf",
    "text/plain": "txt",
    "text/csv": "csv",
    "audio/wav": "wav",
    "audio/mpeg": "mp3",
}
_DATA_URL: Final = re.compile(r"data:([\w.+/-]{0,100})(?:;[\w=-]+)*;base64,", re.ASCII)
_MEDIA_TYPE: Final = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Attachment:
    """`address` is where the bytes lie if they lie elsewhere; it is shown as text and never loaded.

    `pointer` names a file of an export of which only the name was imported.
    """

    media_type: str
    size: int
    name: str = ""
    address: str = ""
    provider_file: str = ""
    pointer: str = ""

    @property
    def can_be_downloaded(self) -> bool:
        return not self.address and not self.provider_file and not self.pointer


@dataclass(frozen=True, slots=True)
class Content:
    """The inside of an attachment's block."""

    media_type: str = ""
    data: str | None = None
    text: str | None = None
    address: str = ""
    provider_file: str = ""
    name: str = ""
    pointer: str = ""


def attachment_of(part: ShownPart, *, is_open: bool) -> Attachment:
    """Return what the page says of an image or document; names and addresses only where texts are open."""
    if not is_open or part.payload is None:
        return Attachment(part.media_type, part.size)
    content = content_of(part.payload)
    size = len(content.data) * 3 // 4 if content.data is not None else part.size
    return Attachment(
        media_type=content.media_type or part.media_type,
        size=size,
        name=content.name,
        address=content.address,
        provider_file=content.provider_file,
        pointer=content.pointer,
    )


def file_of(payload: bytes, *, seq: int, ordinal: int) -> tuple[str, bytes]:
    """Return a safe name and the bytes of an attachment; the block itself where it holds no file."""
    content = content_of(payload)
    stem = f"message-{seq}-block-{ordinal}"
    extension = _EXTENSIONS.get(content.media_type, "bin")
    if content.text is not None:
        return f"{stem}.txt", content.text.encode("utf-8", "surrogatepass")
    if content.data is not None:
        try:
            return f"{stem}.{extension}", base64.b64decode(content.data, validate=True)
        except (binascii.Error, ValueError):
            pass  # not base64 after all: what was received is given as it is
    return f"{stem}.json", payload


def content_of(payload: bytes) -> Content:
    """Read an attachment's block in any dialect; what cannot be read has no content."""
    try:
        block = json_view.read(text_of(payload))
    except ValueError:
        return Content()
    if not isinstance(block, json_view.Object):
        return Content()
    for member in ("source", "image_url", "file", "input_audio"):
        inner = block.last(member)
        if isinstance(inner, json_view.Object):
            return _read(inner, outer=block)
        if isinstance(inner, str):
            return _addressed(inner)
    return _read(block, outer=block)


def _read(inner: json_view.Object, *, outer: json_view.Object) -> Content:
    name = _text(inner, "filename") or _text(outer, "filename") or _text(outer, "title")
    for member in ("url", "file_url", "image_url", "file_data", "data"):
        value = _text(inner, member)
        if not value:
            continue
        if member == "data" and _text(inner, "type") == "text":
            return Content("text/plain", text=value, name=name)
        if member == "data":
            return Content(_media_type(_text(inner, "media_type")), data=value, name=name)
        found = _addressed(value)
        return Content(found.media_type, data=found.data, address=found.address, name=name)
    return Content(provider_file=_text(inner, "file_id"), name=name, pointer=_text(inner, "asset_pointer"))


def _addressed(value: str) -> Content:
    data = _DATA_URL.match(value)
    if data is not None:
        return Content(_media_type(data[1]), data=value[data.end() :])
    return Content(address=value)


def _text(block: json_view.Object, member: str) -> str:
    value = block.last(member)
    return value if isinstance(value, str) else ""


def _media_type(value: str) -> str:
    return value if _MEDIA_TYPE.fullmatch(value) else ""
