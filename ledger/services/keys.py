"""Idempotency keys: which repeats of a call are the same operation, by the tool's scope.

    call           each call is an operation of its own
    conversation   equal calls anywhere in the conversation are one
    branch_root    equal calls below one branch root are one, counted along the path

The branch root is the parent of the user message that opened the turn. An edit or a
regenerate of that turn hangs below the same parent, so it makes the same key; two equal
calls within one turn are told apart by their number on the path. A key holds the realm, so
that two realms never share one, and is a digest, so that it says nothing about anybody.
"""

import hashlib
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from conversations.canonical_json import JsonValue, canonical_bytes
from conversations.reads.path import path_seqs, read_messages
from conversations.vocabulary import Role
from ledger.services.arguments import arguments_of
from ledger.vocabulary import KeyScope

_PREFIX = {KeyScope.CALL: "call", KeyScope.CONVERSATION: "conv", KeyScope.BRANCH_ROOT: "root"}


@dataclass(frozen=True, slots=True)
class CallPlace:
    """A recorded call by its natural key."""

    conversation_id: UUID
    seq: int
    call_id: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a key counts: the scope, the branch root it was made from, and the number of the equal call."""

    kind: KeyScope
    root_seq: int | None = None
    counter: int = 1


def scope_of(*, kind: KeyScope, call: CallPlace, tool_name: str, arguments: JsonValue) -> Scope:
    """Return the scope of a call; the caller holds the conversation's lock."""
    if kind != KeyScope.BRANCH_ROOT:
        return Scope(kind=kind)
    path = path_seqs(conversation_id=call.conversation_id, leaf_seq=call.seq)
    opener, root = branch_root(conversation_id=call.conversation_id, path=path)
    turn = [seq for seq in path if seq >= opener]
    return Scope(
        kind=kind,
        root_seq=root,
        counter=_equal_calls(call, tool_name=tool_name, arguments=arguments, turn=turn),
    )


def make_key(*, realm_id: int, scope: Scope, call: CallPlace, digest: bytes) -> str:
    """Return the key: the same for the same scope and request, for ever."""
    facts: list[JsonValue] = [1, realm_id, str(scope.kind), str(call.conversation_id)]
    if scope.kind == KeyScope.CALL:
        # Without the request: the same call with other parameters must meet its own key again.
        facts += [call.seq, call.call_id, scope.counter]
    else:
        facts += [scope.root_seq, digest.hex(), scope.counter]
    return f"cf1_{_PREFIX[scope.kind]}_{hashlib.sha256(canonical_bytes(facts)).hexdigest()}"


def branch_root(*, conversation_id: UUID, path: list[int]) -> tuple[int, int | None]:
    """Return the message that opened the turn at the end of the path, and that message's parent.

    The opener is the last message of a user that answers no call. Where nobody asked
    (a conversation that an assistant begins), it is the first message of the path.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT seq, parent_seq FROM conversations_message WHERE conversation_id = %s"
            " AND seq = ANY(%s) AND role = %s AND answers_seq IS NULL ORDER BY seq DESC LIMIT 1",
            [conversation_id, path, Role.USER],
        )
        row = cursor.fetchone()
    return (path[0], None) if row is None else (row[0], row[1])


def _equal_calls(call: CallPlace, *, tool_name: str, arguments: JsonValue, turn: list[int]) -> int:
    """Count the calls of the turn that equal this one, itself included and nothing after it."""
    number = 0
    wanted = canonical_bytes(arguments)
    for message in read_messages(conversation_id=call.conversation_id, seqs=turn):
        for part in message.draft.calls():
            if part.tool_name == tool_name and canonical_bytes(arguments_of(part)) == wanted:
                number += 1
            if (message.seq, part.tool_call_id) == (call.seq, call.call_id):
                return max(number, 1)
    return max(number, 1)
