"""Images and a document: a photograph of a passport page, a picture by address, a PDF of an invoice."""

import base64
import hashlib
import struct
import zlib
from datetime import datetime

from samples.company.messages_api import Block, MessagesTalk, text
from samples.company.shop import PROMPT, PROMPT_VERSION, WRENLEY
from samples.company.story import Clock, Story
from samples.company.times import moment


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=8, at="10:31:00"))
    talk = MessagesTalk(key="wrenley-invoice", clock=clock, model="claude-sonnet-4-6", system=PROMPT)
    talk.say([text("Is this passport valid long enough for Turkey in March?"), _photograph(220)])
    talk.answer(text("The page is hard to read: it seems to be valid until 2031, which is long enough."))
    talk.say([_by_address("https://static.example.com/boarding-pass.png"), text("and which gate is that?")])
    talk.answer(text("The boarding pass says gate B 22."))
    talk.say([_invoice(), text("Does this invoice have the right VAT number on it?")])
    talk.answer(text("It shows GB 123 4567 89. Your account has the same number."))
    title = "Passport, boarding pass and invoice"
    return Story("wrenley-invoice", title, WRENLEY, talk.exchanges, PROMPT_VERSION)


def _photograph(side: int) -> Block:
    """A grey PNG with enough noise that it does not shrink: larger than a part keeps for itself."""
    squares = range(side * side // 32 + 1)
    noise = b"".join(hashlib.sha256(f"photograph/{square}".encode()).digest() for square in squares)
    rows = b"".join(b"\x00" + noise[row * side : row * side + side] for row in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(kind, data)
        for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    )
    return _image("image/png", png)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _image(media_type: str, data: bytes) -> Block:
    source = {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


def _by_address(address: str) -> Block:
    return {"type": "image", "source": {"type": "url", "url": address}}


def _invoice() -> Block:
    pdf = (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R>>endobj\n"
        b"4 0 obj<</Length 52>>stream\n"
        b"BT /F1 12 Tf 72 770 Td (Invoice WT-2026-1187) Tj ET\nendstream endobj\n"
        b"trailer<</Root 1 0 R>>\n%%EOF\n"
    )
    source = {"type": "base64", "media_type": "application/pdf", "data": base64.b64encode(pdf).decode()}
    return {"type": "document", "source": source, "title": "Invoice WT-2026-1187.pdf"}
