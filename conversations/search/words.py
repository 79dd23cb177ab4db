"""Words in what was said and returned: words, "phrases", -not, prefix*.

Words are compared as they are written, without stemming: the store holds every
language. One that is typed with an accent is looked for in both of its Unicode
forms, as keyboards and file names differ in them. Where a language has no spaces,
pairs of characters find the places and the text itself is asked whether the term
stands there.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from conversations.search.scripts import bigrams, has_unspaced
from conversations.wire.literals import readable_copy

LIMIT = 50
# More places than this are not weighed against each other: the newest of the first found are shown.
MOST_PLACES = 2000
_TERM = re.compile(r'(-?)"([^"]*)"|(-?)(\S+)')
_NUMBER = re.compile(r"\W*([0-9]+(?:\.[0-9]+)?)\W*")
# A mark that is written over the letter before it belongs to the word.
_PREFIX = re.compile(r"\W*(\w[\w\u0300-\u036f]*)\*\W*")


@dataclass(frozen=True, slots=True)
class Term:
    text: str
    is_excluded: bool = False
    is_phrase: bool = False
    is_prefix: bool = False


@dataclass(frozen=True, slots=True)
class Within:
    """What a search by words is narrowed to; None is everything the searcher may see."""

    realm_ids: Sequence[int] | None = None
    account_id: UUID | None = None
    conversation_id: UUID | None = None
    tool_name: str = ""
    model: str = ""
    status: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class WordHit:
    """A part whose text holds the words, with a snippet around the first of them.

    `marks` are the (start, end) places of found words within the snippet. `said_at` is when it was said
    as far as that is known, else when it was stored; a search within a period goes by the same time.
    `is_partly_indexed`: only the first 200,000 characters of the text are searched.
    """

    conversation_id: UUID
    seq: int
    ordinal: int
    role: str
    type: str
    tool_name: str
    title: str
    account_id: UUID
    said_at: datetime
    snippet: str
    marks: list[tuple[int, int]]
    is_partly_indexed: bool


def read_terms(text: str) -> list[Term]:
    """Read what was typed into terms; what has no letter or digit in it is no term."""
    terms = []
    for match in _TERM.finditer(readable_copy(text)):
        is_phrase = match[2] is not None
        word = match[2] if is_phrase else match[4]
        is_excluded = bool(match[1] if is_phrase else match[3])
        if not re.search(r"\w", word):
            continue
        prefix = None if is_phrase else _PREFIX.fullmatch(word)
        terms.append(Term(word if prefix is None else prefix[1], is_excluded, is_phrase, prefix is not None))
    return terms


def search_words(*, text: str, within: Within, limit: int = LIMIT) -> list[WordHit]:
    """Return the newest parts that hold every term and none that is excluded; nothing for no positive term.

    Reads through an index only. What the search is narrowed to is asked of each
    place as it is found, so MOST_PLACES bounds what fits, not what was passed by.
    A term of one character of a script without spaces is looked for within what
    the other terms found.
    """
    terms = [_composed(term) for term in read_terms(text)]
    if not any(not term.is_excluded for term in terms):
        return []
    query, parameters = _sought(terms)
    realms = None if within.realm_ids is None else list(within.realm_ids)
    with connection.cursor() as cursor:
        cursor.execute(
            _STATEMENT.format(query=query),
            [*parameters, realms, MOST_PLACES, _narrowed(within), limit],
        )
        rows = cursor.fetchall()
    return [_hit(row, terms) for row in rows]


_STATEMENT = """
WITH places AS MATERIALIZED (
    SELECT * FROM conversations_find_places(
        {query}, %s::text[], %s::text[], %s::text[], %s::bigint[], %s, %s::jsonb
    )
)
SELECT p.conversation_id, p.seq, p.ordinal, m.role, p.type, coalesce(p.tool_name, ''), c.title, c.account_id,
    coalesce(m.occurred_at, m.created_at) AS said_at, left(p.text, 200000), char_length(p.text) > 200000
FROM places
JOIN conversations_messagepart p USING (conversation_id, seq, ordinal)
JOIN conversations_conversation c ON c.id = p.conversation_id
JOIN conversations_account a ON a.id = c.account_id
JOIN conversations_message m ON m.conversation_id = p.conversation_id AND m.seq = p.seq
ORDER BY said_at DESC, p.conversation_id DESC, p.seq DESC, p.ordinal LIMIT %s
"""


def _sought(terms: Sequence[Term]) -> tuple[str, list[Any]]:
    """Return the query of the words as SQL, and the parameters of it and of what is sought in pairs.

    Without words it is null, without pairs they are none; with neither nothing is found.
    """
    spaced = [term for term in terms if not has_unspaced(term.text)]
    unspaced = [term for term in terms if has_unspaced(term.text)]
    pairs = sorted({pair for term in unspaced if not term.is_excluded for pair in bigrams(term.text)})
    # Words that are all excluded name no rows; they narrow what the pairs find.
    has_words = any(not term.is_excluded for term in spaced) or (bool(spaced) and bool(pairs))
    query = " && ".join(_tsquery(term) for term in spaced) if has_words else "NULL::tsquery"
    holding = [term.text for term in unspaced if not term.is_excluded]
    lacking = [term.text for term in unspaced if term.is_excluded]
    words = [lexemes for term in spaced if has_words for lexemes in _lexemes(term)]
    return query, [*words, pairs, holding, lacking]


def _composed(term: Term) -> Term:
    """Write a term of a script without spaces as texts have it: keyboards may part a letter from its mark."""
    composed = unicodedata.normalize("NFC", term.text)
    return replace(term, text=composed) if has_unspaced(composed) else term


def _tsquery(term: Term) -> str:
    function = "phraseto_tsquery" if term.is_phrase or not term.is_prefix else "to_tsquery"
    query = " || ".join(f"{function}('simple', %s)" for _ in _spellings(term))
    return f"!! ({query})" if term.is_excluded else f"({query})"


def _lexemes(term: Term) -> list[str]:
    return [f"{spelling}:*" if term.is_prefix else spelling for spelling in _spellings(term)]


def _spellings(term: Term) -> list[str]:
    """The term as it is typed, in each Unicode form that it has besides, and a number behind a hyphen."""
    forms = (term.text, unicodedata.normalize("NFC", term.text), unicodedata.normalize("NFD", term.text))
    # PostgreSQL reads a hyphen before a number as its sign: order-1042 is a word and minus 1042.
    number = None if term.is_phrase else _NUMBER.fullmatch(term.text)
    signed = () if number is None else (f"-{number[1]}",)
    return list(dict.fromkeys([*forms, *signed]))


def _narrowed(within: Within) -> str:
    """Say in JSON what the places are narrowed to, as the database's function reads it."""
    values = {
        "account": within.account_id,
        "conversation": within.conversation_id,
        "tool": within.tool_name or None,
        "model": within.model or None,
        "status": within.status or None,
        "since": within.since,
        "until": within.until,
    }
    return json.dumps({name: str(value) for name, value in values.items() if value is not None})


def _hit(row: Sequence[Any], terms: Sequence[Term]) -> WordHit:
    snippet, marks = cut_snippet(row[9], [term for term in terms if not term.is_excluded])
    known = dict(zip(_HIT_COLUMNS, row, strict=False))
    return WordHit(**known, snippet=snippet, marks=marks, is_partly_indexed=row[10])


# The columns of the statement, as far as a hit takes them as they are.
_HIT_COLUMNS = (
    "conversation_id",
    "seq",
    "ordinal",
    "role",
    "type",
    "tool_name",
    "title",
    "account_id",
    "said_at",
)


SNIPPET = 240


def cut_snippet(text: str, terms: Sequence[Term]) -> tuple[str, list[tuple[int, int]]]:
    """Cut the stretch around the first term found, and say where in it the terms stand."""
    spelt = [replace(term, text=spelling) for term in terms for spelling in _spellings(term)]
    pattern = re.compile("|".join(_as_pattern(term) for term in spelt), re.IGNORECASE)
    first = pattern.search(text)
    start = max(0, (first.start() if first else 0) - SNIPPET // 3)
    if start:
        space = text.find(" ", start, start + 30)
        start = space + 1 if space >= 0 else start
    end = min(len(text), start + SNIPPET)
    snippet = text[start:end]
    marks = [match.span() for match in pattern.finditer(snippet)]
    before, after = "…" if start else "", "…" if end < len(text) else ""
    return f"{before}{snippet}{after}", [(a + len(before), b + len(before)) for a, b in marks]


def _as_pattern(term: Term) -> str:
    words = [re.escape(word) for word in re.findall(r"\w+", term.text)]
    spread = r"\W+".join(words)
    if has_unspaced(term.text):
        return re.escape(term.text)
    return rf"\b{spread}" if term.is_prefix else rf"\b{spread}\b"
