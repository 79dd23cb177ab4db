"""Emptying what people typed: words that belong to the person's rows, and words that name the person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from retention.erasure.patterns import like_patterns
from retention.erasure.subject import Subject


@dataclass(frozen=True, slots=True)
class Words:
    """Columns of one table with what they become, and the condition by which a row is the person's.

    `held` is the condition by which a row has to stay as it is, whoever it names.
    """

    table: str
    columns: Mapping[str, str]
    linked: str = "false"
    held: str = ""

    @property
    def theirs(self) -> str:
        """The condition by which a row is the person's or names the person, and still says something."""
        named = " OR ".join(f"{column}::text ILIKE ANY(%(names)s)" for column in self.columns)
        full = " OR ".join(f"{column} IS DISTINCT FROM {value}" for column, value in self.columns.items())
        return f"({full}) AND ({self.linked} OR {named})"


def empty_words(subject: Subject, words: Words) -> int:
    """Empty the columns of rows that are the person's or that name the person; return how many rows."""
    emptied = ", ".join(f"{column} = {value}" for column, value in words.columns.items())
    free = f" AND NOT ({words.held})" if words.held else ""
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {words.table} SET {emptied} WHERE {words.theirs}{free}", keys_of(subject))
        return cursor.rowcount


def count_words(subject: Subject, words: Words) -> int:
    """Count what `empty_words` would empty."""
    return _count(subject, words, f" AND NOT ({words.held})" if words.held else "")


def count_held(subject: Subject, words: Words) -> int:
    """Count what `empty_words` leaves, because what it stands beside is held."""
    return _count(subject, words, f" AND ({words.held})") if words.held else 0


def _count(subject: Subject, words: Words, condition: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*) FROM {words.table} WHERE {words.theirs}{condition}", keys_of(subject)
        )
        return int(cursor.fetchone()[0])


def empty_all(subject: Subject, stores: Mapping[str, Sequence[Words]]) -> dict[str, int]:
    counts = {store: sum(empty_words(subject, one) for one in several) for store, several in stores.items()}
    return {store: number for store, number in counts.items() if number}


def keys_of(subject: Subject) -> dict[str, Any]:
    """Return what the conditions of Words may name."""
    return {
        "accounts": subject.account_ids,
        "account_texts": [str(pk) for pk in subject.account_ids],
        "conversations": subject.free_ids,
        "effects": subject.effect_ids,
        "names": like_patterns(subject.searched_names),
        "said": subject.names,
        "realm": str(subject.request.realm_id),
        "request": subject.request.pk,
    }
