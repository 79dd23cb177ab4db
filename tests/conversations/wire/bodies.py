"""Request bodies written for these tests, and the one way they are rendered back."""

import json

from conversations.drafts import MessageDraft
from conversations.vocabulary import Dialect
from conversations.wire.dialects import module_for
from conversations.wire.render import render_request
from conversations.wire.shapes import ParsedRequest, ParsedResponse, Usage


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


def parsed_and_same(dialect: Dialect, body: bytes) -> ParsedRequest:
    """Parse a body, and see that its pieces give the same bytes again."""
    parsed = module_for(dialect).parse_request(body)
    assert rendered(parsed) == body
    return parsed


def said(answer: ParsedResponse) -> MessageDraft:
    """The message of an answer that has one."""
    assert answer.message is not None
    return answer.message


def counted(answer: ParsedResponse) -> Usage:
    """The token counts of an answer that has some."""
    assert answer.usage is not None
    return answer.usage
