"""The exact places of an id: every kind of id in one statement, each kind one probe of its index.

An id may have several places (a provider's call ids repeat, forks and imports
repeat them): all are returned. What lies in a realm that the searcher does not
see is not found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import connection

MOST = 50
SHORTEST_PREFIX = 6


class HitKind(StrEnum):
    """What was found, in the words of the page that lists the hits."""

    CONVERSATION = "conversation"
    MESSAGE = "message"
    CALL = "call"
    RESULT = "result"
    ATTEMPT = "attempt"
    ACCOUNT = "account"


@dataclass(frozen=True, slots=True)
class IdHit:
    """One place of an id. `seq`, `ordinal` and `number` are set as far as the kind has them.

    `matched` is the whole id, which may be longer than a prefix that was typed;
    `by` says what sort of id it is.
    """

    kind: HitKind
    by: str
    matched: str
    conversation_id: UUID | None
    seq: int | None
    ordinal: int | None
    number: int | None
    title: str
    account_id: UUID
    account_external_id: str
    realm_id: int


# kind, what sort of id, its columns; {id} becomes the comparison with the term.
_SOURCES = (
    (
        HitKind.CALL,
        "tool call id",
        (
            "SELECT tool_call_id, conversation_id, seq, ordinal::int, NULL::int"
            " FROM conversations_messagepart WHERE {tool_call_id} AND type IN ('tool_use', 'server_tool_use')"
        ),
    ),
    (
        HitKind.RESULT,
        "tool call id",
        (
            "SELECT tool_call_id, conversation_id, seq, ordinal::int, NULL::int"
            " FROM conversations_messagepart"
            " WHERE {tool_call_id} AND type NOT IN ('tool_use', 'server_tool_use')"
        ),
    ),
    (
        HitKind.MESSAGE,
        "message id",
        (
            "SELECT client_message_id, conversation_id, seq, NULL::int, NULL::int FROM conversations_message"
            " WHERE {client_message_id}"
        ),
    ),
    (
        HitKind.ATTEMPT,
        "provider's response id",
        (
            "SELECT provider_response_id, conversation_id, message_seq, NULL::int, number"
            " FROM conversations_generation WHERE {provider_response_id} AND provider_response_id <> ''"
        ),
    ),
    (
        HitKind.ATTEMPT,
        "provider's request id",
        (
            "SELECT provider_request_id, conversation_id, message_seq, NULL::int, number"
            " FROM conversations_generation WHERE {provider_request_id} AND provider_request_id <> ''"
        ),
    ),
    (
        HitKind.ATTEMPT,
        "request id",
        (
            "SELECT request_id, conversation_id, message_seq, NULL::int, number"
            " FROM conversations_generation WHERE {request_id}"
        ),
    ),
    (
        HitKind.ATTEMPT,
        "hosted conversation id",
        (
            "SELECT hosted_conversation_id, conversation_id, message_seq, NULL::int, number"
            " FROM conversations_generation WHERE {hosted_conversation_id} AND hosted_conversation_id <> ''"
        ),
    ),
    (
        HitKind.CONVERSATION,
        "conversation's id at its source",
        (
            "SELECT external_ref, id, NULL::int, NULL::int, NULL::int FROM conversations_conversation"
            " WHERE {external_ref} AND external_ref <> ''"
        ),
    ),
    (
        HitKind.CONVERSATION,
        "call that opened the conversation",
        (
            "SELECT parent_call_id, id, NULL::int, NULL::int, NULL::int FROM conversations_conversation"
            " WHERE {parent_call_id} AND parent_call_id <> ''"
        ),
    ),
)
_EXCHANGES = (
    "SELECT x.exchange_id, x.conversation_id, g.message_seq, NULL::int, x.number FROM access_realm r"
    " JOIN conversations_exchange x ON x.realm_id = r.id AND x.exchange_id = %(term)s"
    " JOIN conversations_generation g ON g.conversation_id = x.conversation_id AND g.number = x.number"
)
_CONVERSATION_BY_ID = (
    "SELECT id::text, id, NULL::int, NULL::int, NULL::int FROM conversations_conversation WHERE id = %(uuid)s"
)
_CONVERSATION_BY_PREFIX = (
    "SELECT id::text, id, NULL::int, NULL::int, NULL::int FROM conversations_conversation"
    " WHERE id BETWEEN %(lowest)s AND %(highest)s"
)
TRIED = tuple(
    dict.fromkeys(
        [by for _, by, _ in _SOURCES]
        + ["exchange id", "conversation", "account", "account's external id", "e-mail"]
    )
)


def find_by_id(*, term: str, realm_ids: Sequence[int] | None, uuid: UUID | None = None) -> list[IdHit]:
    """Return every place of exactly this id, up to MOST; `realm_ids` None means every realm."""
    sources = [(kind, by, sql.format_map(_Comparison("{} = %(term)s"))) for kind, by, sql in _SOURCES] + [
        (HitKind.ATTEMPT, "exchange id", _EXCHANGES)
    ]
    if uuid is not None:
        sources.append((HitKind.CONVERSATION, "conversation", _CONVERSATION_BY_ID))
    hits = _places(sources, {"term": term, "uuid": uuid, "realms": _realms(realm_ids)})
    return hits + _accounts(
        "a.external_id = %(term)s OR a.id = %(uuid)s"
        f" OR a.id = ANY(ARRAY(SELECT conversations_accounts_with_email(%(term)s, {MOST})))",
        {"term": term, "uuid": uuid, "realms": _realms(realm_ids)},
    )


def find_by_prefix(*, prefix: str, realm_ids: Sequence[int] | None) -> list[IdHit]:
    """Return places of ids that begin so; nothing for a prefix too short to mean anything.

    `%` and `_` are plain characters. The range operators are those that an index
    serves for every role, which LIKE is not.
    """
    if len(prefix) < SHORTEST_PREFIX:
        return []
    parameters: dict[str, Any] = {"term": prefix, "end": prefix_end(prefix), "realms": _realms(realm_ids)}
    comparison = _Comparison("{0} ~>=~ %(term)s AND {0} ~<~ %(end)s")
    sources = [(kind, by, sql.format_map(comparison)) for kind, by, sql in _SOURCES]
    bounds = uuid_bounds(prefix)
    if bounds is not None:
        sources.append((HitKind.CONVERSATION, "conversation", _CONVERSATION_BY_PREFIX))
        parameters |= {"lowest": bounds[0], "highest": bounds[1]}
    return _places(sources, parameters) + _accounts(
        "a.external_id ~>=~ %(term)s AND a.external_id ~<~ %(end)s", parameters
    )


def uuid_bounds(prefix: str) -> tuple[UUID, UUID] | None:
    """Return the lowest and highest uuid that begin so, or None where no uuid does."""
    digits = prefix.replace("-", "").lower()
    if not 0 < len(digits) <= 32 or any(digit not in "0123456789abcdef" for digit in digits):
        return None
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))


class _Comparison(dict[str, str]):
    """Fills a source's {column} with the comparison of that column."""

    def __init__(self, template: str) -> None:
        super().__init__()
        self.template = template

    def __missing__(self, column: str) -> str:
        return self.template.format(column)


def _places(sources: Sequence[tuple[HitKind, str, str]], parameters: dict[str, Any]) -> list[IdHit]:
    branches = " UNION ALL ".join(
        f"(SELECT {index} AS source, s.* FROM ({sql} LIMIT {MOST})"
        " AS s(matched, conversation_id, seq, ordinal, number))"
        for index, (_, _, sql) in enumerate(sources)
    )
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT h.source, h.matched, h.conversation_id, h.seq, h.ordinal, h.number, c.title, a.id,"
            f" a.external_id, a.realm_id FROM ({branches}) h"
            " JOIN conversations_conversation c ON c.id = h.conversation_id"
            " JOIN conversations_account a ON a.id = c.account_id"
            " WHERE %(realms)s::bigint[] IS NULL OR a.realm_id = ANY(%(realms)s::bigint[])"
            f" ORDER BY h.source, h.conversation_id DESC, h.seq LIMIT {MOST}",
            parameters,
        )
        rows = cursor.fetchall()
    return [IdHit(*sources[row[0]][:2], *row[1:]) for row in rows]


def _accounts(condition: str, parameters: dict[str, Any]) -> list[IdHit]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT a.external_id, a.label, a.id, a.realm_id FROM conversations_account a"
            f" WHERE ({condition})"
            " AND (%(realms)s::bigint[] IS NULL OR a.realm_id = ANY(%(realms)s::bigint[]))"
            f" ORDER BY a.id DESC LIMIT {MOST}",
            parameters,
        )
        rows = cursor.fetchall()
    return [
        IdHit(
            HitKind.ACCOUNT, "account", external_id, None, None, None, None, label, pk, external_id, realm_id
        )
        for external_id, label, pk, realm_id in rows
    ]


def _realms(realm_ids: Sequence[int] | None) -> list[int] | None:
    return None if realm_ids is None else list(realm_ids)


def prefix_end(prefix: str) -> str:
    """The smallest text that is greater, byte by byte, than everything that begins with the prefix."""
    last = ord(prefix[-1])
    # Neither surrogates nor past the last character: then the prefix before it decides.
    if last in (0xD7FF, 0x10FFFF):
        return prefix[:-1] + "\U0010ffff" if last == 0xD7FF else prefix_end(prefix[:-1] or "\U0010fffe")
    return prefix[:-1] + chr(last + 1)
