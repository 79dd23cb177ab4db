"""Searching for what the person is called: every text of every table, raw body, patch, file and message.

Page by page: a stretch of a table's blocks, a run of raw bodies, of patched bodies, of files, and
the broker last. What is found is named by table and column, never by content.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any
from uuid import UUID

import zstandard
from django.db import connection

from conversations.archive.layout import is_compressed
from conversations.archive.layout import opened as archived_lines
from conversations.replay import ReplayError, request_body_of
from conversations.services.blobs import read_blob
from retention.erasure.broker import BrokerAwayError, waiting_messages
from retention.erasure.outcome import Outcome
from retention.erasure.patterns import byte_forms, byte_like_patterns, holds_any, like_patterns
from retention.erasure.steps.raw_bodies import opened
from retention.erasure.subject import Subject
from retention.stored_files import keys_after

BLOCKS = 4_000
RAW_BODIES = 200
PATCHES = 200
FILES = 200
TOO_SHORT = "names too short to search for"
# The request itself knows the names until the receipt is written.
_OF_THE_REQUEST = "retention_erasureidentifier"

_COLUMNS = """
SELECT c.relname, array_agg(a.attname ORDER BY a.attnum), array_agg(t.typname::text ORDER BY a.attnum),
    (pg_relation_size(c.oid) / current_setting('block_size')::int)::int
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> %s
AND a.attnum > 0 AND NOT a.attisdropped
AND t.typname IN ('text', 'varchar', 'bpchar', 'json', 'jsonb', 'bytea', 'name', '_text', '_varchar')
AND has_table_privilege(c.oid, 'SELECT')
GROUP BY 1, c.oid ORDER BY 1
"""


def run(subject: Subject, after: Any) -> Outcome:
    """`after` is [kind, name, position]: tables first, then raw bodies, patches, files, the broker.

    A short name is not searched for, and that is said: it occurs everywhere by chance.
    """
    names = subject.searched_names
    if after is None:
        first = _search(names, ["table", "", 0]) if names else Outcome()
        if short := len(subject.names) - len(names):
            first.kept[TOO_SHORT] = short
        return first
    return _search(names, after)


def _search(names: Sequence[str], after: Any) -> Outcome:
    kind, name, position = after
    if kind == "table":
        return _search_tables(names, name, position)
    if kind == "raw":
        return _search_raw_bodies(names, name)
    if kind == "patches":
        return _search_patches(names, UUID(name), position)
    if kind == "files":
        return _search_files(names, name)
    return _search_broker(names)


def searched_columns() -> list[tuple[str, list[str], list[str], int]]:
    """Return every table with its columns that can hold text, their types, and its size in blocks."""
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS, [_OF_THE_REQUEST])
        return list(cursor.fetchall())


def _search_tables(names: Sequence[str], last: str, position: int) -> Outcome:
    """Search stretches until one page's worth of blocks has been read."""
    tables = [table for table in searched_columns() if table[0] >= last]
    outcome, room = Outcome(), BLOCKS
    for table, columns, types, blocks in tables:
        begin = position if table == last else 0
        end = begin + room
        for column in _found(names, table, columns, types, begin=begin, end=end):
            _note(outcome, f"{table}.{column}")
        if end < blocks:
            outcome.after = ["table", table, end]
            return outcome
        room -= max(blocks - begin, 1)
        if room <= 0:
            following = [other for other in tables if other[0] > table]
            outcome.after = ["table", following[0][0], 0] if following else ["raw", str(UUID(int=0)), 0]
            return outcome
    outcome.after = ["raw", str(UUID(int=0)), 0]
    return outcome


def _found(
    names: Sequence[str], table: str, columns: Sequence[str], types: Sequence[str], *, begin: int, end: int
) -> list[str]:
    tests = [
        f"coalesce(bool_or({_test(column, kind)}), false)"
        for column, kind in zip(columns, types, strict=True)
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            f'SELECT {", ".join(tests)} FROM "{table}"'
            f" WHERE ctid >= '({begin},0)'::tid AND ctid < '({end},0)'::tid",
            {"names": like_patterns(names), "bytes": byte_like_patterns(names)},
        )
        found = cursor.fetchone()
    return [column for column, is_found in zip(columns, found, strict=True) if is_found]


def _test(column: str, kind: str) -> str:
    if kind == "bytea":
        return f"encode(\"{column}\", 'escape') ILIKE ANY(%(bytes)s)"
    return f'"{column}"::text ILIKE ANY(%(names)s)'


def _search_raw_bodies(names: Sequence[str], last: str) -> Outcome:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, compressed, size FROM conversations_rawbody WHERE id > %s ORDER BY id LIMIT %s",
            [last, RAW_BODIES],
        )
        rows = cursor.fetchall()
    forms, outcome = byte_forms(names), Outcome()
    for _, compressed, size in rows:
        if holds_any(opened(compressed, size), forms):
            _note(outcome, "conversations_rawbody.compressed")
    outcome.after = ["raw", str(rows[-1][0]), 0] if len(rows) == RAW_BODIES else _FIRST_PATCH
    return outcome


_FIRST_PATCH = ["patches", str(UUID(int=0)), 0]
_PATCHED = """
SELECT conversation_id, number FROM conversations_generation
WHERE body_proof = 'patched' AND (conversation_id, number) > (%s, %s)
ORDER BY conversation_id, number LIMIT %s
"""


def _search_patches(names: Sequence[str], conversation_id: UUID, number: int) -> Outcome:
    """A patch is compressed against the rows that it belongs to: only the body made of both can be read."""
    with connection.cursor() as cursor:
        cursor.execute(_PATCHED, [conversation_id, number, PATCHES])
        keys = cursor.fetchall()
    forms, outcome = byte_forms(names), Outcome()
    for one, attempt in keys:
        try:
            body = request_body_of(conversation_id=one, number=attempt)
        except ReplayError:
            continue
        if holds_any(body, forms):
            _note(outcome, "conversations_generation.body_patch")
    outcome.after = ["patches", str(keys[-1][0]), keys[-1][1]] if len(keys) == PATCHES else ["files", "", 0]
    return outcome


def _search_broker(names: Sequence[str]) -> Outcome:
    """Messages carry the number of a run and nothing else; that is looked at, not believed."""
    forms, outcome = byte_forms(names), Outcome()
    try:
        if any(holds_any(message, forms) for message in waiting_messages()):
            _note(outcome, "the broker's messages")
    except BrokerAwayError:
        outcome.kept["broker, not asked"] = 1
    return outcome


def _search_files(names: Sequence[str], last: str) -> Outcome:
    keys = list(islice(keys_after(last), FILES))
    forms, outcome = byte_forms(names), Outcome()
    for key in keys:
        try:
            content = read_blob(storage_key=key)
        except FileNotFoundError:
            # The purge took it meanwhile.
            continue
        if holds_any(content, forms) or holds_any(key.encode(), forms):
            _note(outcome, "blob storage")
        if holds_any(_inside(content), forms):
            _note(outcome, "an archive file")
    outcome.after = ["files", keys[-1], 0] if len(keys) == FILES else ["broker", "", 0]
    return outcome


def _inside(content: bytes) -> bytes:
    """Return what an archive file holds; nothing of what is no archive."""
    try:
        return archived_lines(content) if is_compressed(content) else b""
    except zstandard.ZstdError:
        return b""


def _note(outcome: Outcome, place: str) -> None:
    outcome.kept[place] = outcome.kept.get(place, 0) + 1
    outcome.cause = f"found again in {', '.join(sorted(outcome.kept))}"[:500]
