"""The exact places of an id: every kind of id in one statement, each kind one probe of its index.

An id may have several places (a provider's call ids repeat, forks and imports
repeat them): all are returned. What lies in a realm that the searcher does not
see is not found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection

MOST = 50
SHORTEST_PREFIX = 6
# Of ids that begin so, as many are read to find those that end as asked too.
MOST_READ = 2_000


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


# A call's id stands on the call and on its results: one probe finds both.
_CALL_IDS = (
    "SELECT CASE WHEN type IN ('tool_use', 'server_tool_use') THEN {call} ELSE {result} END, tool_call_id,"
    " conversation_id, seq, ordinal::int, NULL::int FROM conversations_messagepart WHERE {where}"
)
_CALL, _RESULT = (HitKind.CALL, "tool call id"), (HitKind.RESULT, "tool call id")
# kind, what sort of id, the table, the id's column, the columns of the place, and what else holds of it.
_SOURCES = (
    (
        HitKind.MESSAGE,
        "message id",
        "message",
        "client_message_id",
        "conversation_id, seq, NULL::int, NULL::int",
        "",
    ),
    *(
        (
            HitKind.ATTEMPT,
            by,
            "generation",
            column,
            "conversation_id, message_seq, NULL::int, number",
            "" if column == "request_id" else f" AND {column} <> ''",
        )
        for by, column in (
            ("provider's response id", "provider_response_id"),
            ("provider's request id", "provider_request_id"),
            ("request id", "request_id"),
            ("hosted conversation id", "hosted_conversation_id"),
        )
    ),
    *(
        (
            HitKind.CONVERSATION,
            by,
            "conversation",
            column,
            "id, NULL::int, NULL::int, NULL::int",
            f" AND {column} <> ''",
        )
        for by, column in (
            ("conversation's id at its source", "external_ref"),
            ("call that opened the conversation", "parent_call_id"),
        )
    ),
)
_EXCHANGE = (HitKind.ATTEMPT, "exchange id")
_CONVERSATION = (HitKind.CONVERSATION, "conversation")
_ACCOUNT = (HitKind.ACCOUNT, "account")
_SORTS: tuple[tuple[HitKind, str], ...] = (
    _CALL,
    _RESULT,
    *((kind, by) for kind, by, *_ in _SOURCES),
    _EXCHANGE,
    _CONVERSATION,
    _ACCOUNT,
)
_EXCHANGES = (
    "SELECT {source}, x.exchange_id, x.conversation_id, g.message_seq, NULL::int, x.number"
    " FROM conversations_exchange x"
    " JOIN conversations_generation g ON g.conversation_id = x.conversation_id AND g.number = x.number"
    " WHERE x.realm_id = ANY(ARRAY(SELECT id FROM access_realm)) AND x.exchange_id = %(term)s"
)
_CONVERSATIONS = (
    "SELECT {source}, id::text, id, NULL::int, NULL::int, NULL::int"
    " FROM conversations_conversation WHERE {where}"
)
# OFFSET 0: whose it is, is looked up for the few places found, whatever the planner expects of ten probes.
_STATEMENT = """
(SELECT h.*, o.* FROM ({places}) h(source, matched, conversation_id, seq, ordinal, number), LATERAL (
    SELECT c.title, a.id, a.external_id, a.realm_id FROM conversations_conversation c
    JOIN conversations_account a ON a.id = c.account_id WHERE c.id = h.conversation_id OFFSET 0) o
WHERE %(realms)s::bigint[] IS NULL OR o.realm_id = ANY(%(realms)s::bigint[]))
UNION ALL
(SELECT {account}, a.external_id, NULL, NULL, NULL, NULL, a.label, a.id, a.external_id, a.realm_id
FROM conversations_account a WHERE ({accounts})
AND (%(realms)s::bigint[] IS NULL OR a.realm_id = ANY(%(realms)s::bigint[])) ORDER BY a.id DESC LIMIT {most})
"""
_ENDING_SO = (
    f"(SELECT * FROM ({{}} LIMIT {MOST_READ}) b(source, matched, conversation_id, seq, ordinal, number)"
    f" WHERE right(matched, length(%(tail)s)) = %(tail)s LIMIT {MOST})"
)
_ACCOUNTS_BY = ("account", "account's external id", "e-mail")
TRIED = tuple(
    dict.fromkeys([_CALL[1], *(by for _, by, *_ in _SOURCES), _EXCHANGE[1], _CONVERSATION[1], *_ACCOUNTS_BY])
)


def find_by_id(*, term: str, realm_ids: Sequence[int] | None, uuid: UUID | None = None) -> list[IdHit]:
    """Return every place of exactly this id, up to MOST; `realm_ids` None means every realm."""
    statement = _exact_statement(is_uuid=uuid is not None, is_address="@" in term)
    return _found(statement, {"term": term, "uuid": uuid, "realms": _realms(realm_ids)})


def find_by_prefix(*, prefix: str, realm_ids: Sequence[int] | None, tail: str = "") -> list[IdHit]:
    """Return places of ids that begin so; nothing for a prefix too short to mean anything.

    With a `tail`, only those that end so, among the first MOST_READ of each kind that begin so (of
    accounts, whatever their end).

    `%` and `_` are plain characters. The range operators are those that an index
    serves for every role, which LIKE is not.
    """
    if len(prefix) < SHORTEST_PREFIX:
        return []
    parameters: dict[str, Any] = {"term": prefix, "end": prefix_end(prefix), "realms": _realms(realm_ids)}
    parameters["tail"] = tail
    bounds = uuid_bounds(prefix)
    if bounds is not None:
        parameters |= {"lowest": bounds[0], "highest": bounds[1]}
    return _found(_prefix_statement(is_uuid=bounds is not None, has_tail=bool(tail)), parameters)


@cache
def _exact_statement(*, is_uuid: bool, is_address: bool) -> str:
    others = [_EXCHANGES.format(source=_SORTS.index(_EXCHANGE))]
    accounts = ["a.external_id = %(term)s"]
    if is_uuid:
        others.append(_CONVERSATIONS.format(source=_SORTS.index(_CONVERSATION), where="id = %(uuid)s"))
        accounts.append("a.id = %(uuid)s")
    if is_address:
        accounts.append(f"a.id = ANY(ARRAY(SELECT conversations_accounts_with_email(%(term)s, {MOST})))")
    return _statement("{0} = %(term)s", others, " OR ".join(accounts))


@cache
def _prefix_statement(*, is_uuid: bool, has_tail: bool = False) -> str:
    within = _CONVERSATIONS.format(
        source=_SORTS.index(_CONVERSATION), where="id BETWEEN %(lowest)s AND %(highest)s"
    )
    begins = "{0} ~>=~ %(term)s AND {0} ~<~ %(end)s"
    accounts = begins.format("a.external_id")
    return _statement(begins, [within] if is_uuid else [], accounts, has_tail=has_tail)


def _statement(comparison: str, others: Sequence[str], accounts: str, *, has_tail: bool = False) -> str:
    """Put the probes together: one text for each sort of term, so that it stays prepared."""
    call_ids = _CALL_IDS.format(
        call=_SORTS.index(_CALL), result=_SORTS.index(_RESULT), where=comparison.format("tool_call_id")
    )
    probes = [
        f"SELECT {_SORTS.index((kind, by))}, {column}, {place} FROM conversations_{table}"
        f" WHERE {comparison.format(column)}{further}"
        for kind, by, table, column, place, further in _SOURCES
    ]
    limited = _ENDING_SO if has_tail else f"({{}} LIMIT {MOST})"
    places = " UNION ALL ".join(
        [
            (_ENDING_SO if has_tail else f"({{}} LIMIT {2 * MOST})").format(call_ids),
            *(limited.format(probe) for probe in (*probes, *others)),
        ]
    )
    statement = _STATEMENT.format(places=places, accounts=accounts, account=_SORTS.index(_ACCOUNT), most=MOST)
    return " ".join(statement.split())


def _found(statement: str, parameters: dict[str, Any]) -> list[IdHit]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        rows = cursor.fetchall()
    # Sorted here: in the statement the sort would cost every search for one id a tenth of it.
    places = sorted((row for row in rows if row[2] is not None), key=_place)[:MOST]
    accounts = [row for row in rows if row[2] is None]
    return [IdHit(*_SORTS[row[0]], *row[1:]) for row in (*places, *accounts)]


def _place(row: tuple[Any, ...]) -> tuple[int, int, bool, int]:
    """By sort of id, the newest conversation first, in the order of its messages."""
    source, _, conversation_id, seq = row[:4]
    return source, -conversation_id.int, seq is None, seq or 0


def uuid_bounds(prefix: str) -> tuple[UUID, UUID] | None:
    """Return the lowest and highest uuid that begin so, or None where no uuid does."""
    digits = prefix.replace("-", "").lower()
    if not 0 < len(digits) <= 32 or any(digit not in "0123456789abcdef" for digit in digits):
        return None
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))


def _realms(realm_ids: Sequence[int] | None) -> list[int] | None:
    return None if realm_ids is None else list(realm_ids)


def prefix_end(prefix: str) -> str:
    """The smallest text that is greater, byte by byte, than everything that begins with the prefix."""
    last = ord(prefix[-1])
    # Neither surrogates nor past the last character: then the prefix before it decides.
    if last in (0xD7FF, 0x10FFFF):
        return prefix[:-1] + "\U0010ffff" if last == 0xD7FF else prefix_end(prefix[:-1] or "\U0010fffe")
    return prefix[:-1] + chr(last + 1)
