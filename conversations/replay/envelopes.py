"""Envelopes that are made or changed here: all others are stored as they came."""

import json

from conversations.vocabulary import Dialect
from conversations.wire.shapes import HOLE_MESSAGES

_MAX_TOKENS = 4096  # Anthropic requires a limit


def minimal_envelope(dialect: Dialect, model: str) -> bytes:
    """The least that the dialect takes: the model, and the place of the messages."""
    named = json.dumps(model, ensure_ascii=False).encode()
    if dialect == Dialect.ANTHROPIC_MESSAGES:
        return b'{"model":%b,"max_tokens":%d,"messages":[%b]}' % (named, _MAX_TOKENS, HOLE_MESSAGES)
    key = b"input" if dialect == Dialect.OPENAI_RESPONSES else b"messages"
    return b'{"model":%b,"%b":[%b]}' % (named, key, HOLE_MESSAGES)


def point_at_response(envelope: bytes, response_id: str) -> bytes:
    """The envelope with its `previous_response_id` naming another answer; everything else stays as it is."""
    text = envelope.decode()
    decoder = json.JSONDecoder()
    key = '"previous_response_id"'
    start = text.rfind(key)
    if start < 0 or not response_id:
        return envelope
    value_start = start + len(key)
    while text[value_start] in ": \t\r\n":
        value_start += 1
    _, value_end = decoder.raw_decode(text, value_start)
    return (text[:value_start] + json.dumps(response_id) + text[value_end:]).encode()
