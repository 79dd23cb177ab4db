"""Which conversation an exchange belongs to, where its recorder does not name one."""

from typing import NamedTuple
from uuid import UUID

from django.db import connection

from conversations.digests import path_salt
from conversations.identity import path_digests
from conversations.services.recording.exchange import LONGEST_ID, Reading
from conversations.services.recording.storable import fitted
from conversations.services.starting import start_conversation
from conversations.vocabulary import Role, Source
from conversations.wire.shapes import ParsedRequest


class Found(NamedTuple):
    """The conversation; `base_seq` is the message whose path the provider itself puts before the body."""

    conversation_id: UUID
    base_seq: int | None = None


def find_conversation(reading: Reading) -> Found:
    """Return the conversation: named, held by the provider's id, or known by its history; else a new one.

    A request that is tried again before anything was answered has no history to be known by: it is
    known by its own id and body.

    Nothing but the account's own conversations is ever found; whether the one
    that is named is among them is asked when it is locked.
    """
    call, request = reading.call, reading.request
    hosted = None if request is None else _by_provider_ids(call.account_id, request)
    if call.conversation_id is not None:
        is_same = hosted is not None and hosted.conversation_id == call.conversation_id
        return hosted if hosted is not None and is_same else Found(call.conversation_id)
    if hosted is not None:
        return hosted
    known = (None if request is None else _by_history(call.account_id, request)) or _by_request(reading)
    if known is not None:
        return Found(known)
    started = start_conversation(
        account_id=call.account_id, now=call.now, source=Source.RECORDED, started_at=call.started_at
    )
    return Found(started.id)


def _by_provider_ids(account_id: UUID, request: ParsedRequest) -> Found | None:
    """Follow `previous_response_id`, or a hosted conversation to its last generation."""
    if request.previous_response_id:
        statement, value = BY_RESPONSE, request.previous_response_id
    elif request.hosted_conversation_id:
        statement, value = BY_HOSTED_CONVERSATION, request.hosted_conversation_id
    else:
        return None
    with connection.cursor() as cursor:
        # As the columns hold it: an id of any length and any characters came from outside.
        cursor.execute(statement, [fitted(value, LONGEST_ID), account_id])
        row = cursor.fetchone()
    return None if row is None else Found(*row)


BY_RESPONSE = """
SELECT g.conversation_id, g.message_seq FROM conversations_generation g
JOIN conversations_conversation c ON c.id = g.conversation_id
WHERE g.provider_response_id = %s AND c.account_id = %s
ORDER BY g.message_seq IS NULL, g.created_at DESC, g.number DESC LIMIT 1
"""

BY_HOSTED_CONVERSATION = """
SELECT g.conversation_id, g.message_seq FROM conversations_generation g
JOIN conversations_conversation c ON c.id = g.conversation_id
WHERE g.hosted_conversation_id = %s AND c.account_id = %s
ORDER BY g.message_seq IS NULL, g.created_at DESC, g.number DESC LIMIT 1
"""


def _by_request(reading: Reading) -> UUID | None:
    """Find the attempt before this one: the same request of the account, the same body, and no answer."""
    call = reading.call
    if not call.request_id:
        return None
    with connection.cursor() as cursor:
        cursor.execute(
            BY_REQUEST, [fitted(call.request_id, LONGEST_ID), reading.body_digest, call.account_id]
        )
        row = cursor.fetchone()
    return None if row is None else row[0]


# The body too: a caller may count its requests anew in each conversation.
BY_REQUEST = """
SELECT g.conversation_id FROM conversations_generation g
JOIN conversations_conversation c ON c.id = g.conversation_id
WHERE g.request_id = %s AND g.body_sha256 = %s AND g.message_seq IS NULL AND c.account_id = %s
ORDER BY g.created_at DESC, g.number DESC LIMIT 1
"""


def _by_history(account_id: UUID, request: ParsedRequest) -> UUID | None:
    """Find the deepest prefix that ends in an answer; of several conversations the one last active."""
    digests = path_digests(request.messages, account_id=account_id)
    nothing_said = path_salt(account_id)
    following = [*(message.role for message in request.messages[1:]), None]
    ends = [
        digest
        for message, digest, next_role in zip(request.messages, digests, following, strict=False)
        if message.role == Role.ASSISTANT and next_role != Role.ASSISTANT and digest != nothing_said
    ]
    if not ends:
        return None
    with connection.cursor() as cursor:
        cursor.execute(BY_HISTORY, {"ends": ends, "account": account_id})
        row = cursor.fetchone()
    return None if row is None else row[0]


BY_HISTORY = """
SELECT m.conversation_id FROM conversations_message m
JOIN conversations_conversation c ON c.id = m.conversation_id
WHERE m.path_digest = ANY(%(ends)s::bytea[]) AND m.role = 'assistant' AND c.account_id = %(account)s
ORDER BY array_position(%(ends)s::bytea[], m.path_digest) DESC, c.last_activity_at DESC, c.id DESC LIMIT 1
"""
