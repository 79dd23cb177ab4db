"""Request bodies written for these tests, and the one way they are rendered back."""

import json

from conversations.wire.dialects import module_for
from conversations.wire.render import render_request
from conversations.wire.shapes import ParsedRequest


def compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def spaced(value: object) -> bytes:
    return json.dumps(value).encode()


def rendered(parsed: ParsedRequest) -> bytes:
    return render_request(
        parsed.envelope,
        parsed.messages,
        dialect=parsed.dialect,
        style=parsed.style,
        preamble=parsed.preamble,
        leading=parsed.leading,
        tools=parsed.tools,
    )


def parsed_and_same(dialect: str, body: bytes) -> ParsedRequest:
    """Parse a body, and see that its pieces give the same bytes again."""
    parsed = module_for(dialect).parse_request(body)
    assert rendered(parsed) == body
    return parsed
