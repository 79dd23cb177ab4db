"""Requests in Anthropic's dialect, read and written again."""

from conversations.vocabulary import Dialect
from tests.conversations.wire.bodies import compact, parsed_and_same

ANTHROPIC = Dialect.ANTHROPIC_MESSAGES


def blocks_of(*blocks, role="user"):
    return compact({"model": "m", "messages": [{"role": role, "content": list(blocks)}]})


def messages_of(*messages):
    return parsed_and_same(ANTHROPIC, compact({"messages": list(messages)})).messages


def parts_of(*blocks, role="user"):
    (message,) = parsed_and_same(ANTHROPIC, blocks_of(*blocks, role=role)).messages
    return message.parts
