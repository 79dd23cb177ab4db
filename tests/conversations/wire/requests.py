"""Requests in three dialects, as short as a rule needs them."""

from conversations.vocabulary import Dialect
from conversations.wire.dialects import module_for
from conversations.wire.validate import find_request_violations
from tests.conversations.wire.bodies import compact

A, C, R = Dialect.ANTHROPIC_MESSAGES, Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES


def user(*blocks):
    return {"role": "user", "content": list(blocks) or "hi"}


def broken(*messages, dialect=A, **members):
    """The rules that a request breaks, with strength and place."""
    key = "input" if dialect == R else "messages"
    request = module_for(dialect).parse_request(compact({"model": "m", key: list(messages), **members}))
    return [(found.rule, found.strength, found.place) for found in find_request_violations(request)]
