"""Ids by their end, as screens show a long one and people pass it on: "…a1b2c3"."""

import re
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import connection

from console.search.sight import Sight

SHORTEST_END: Final = 6
MOST_OF_A_KIND: Final = 10
NOT_BY_END: Final = (
    "Of messages, calls and attempts an end is not searched for: "
    "paste the beginning or the whole of their ids."
)
# The rights that open what an id of each source leads to.
_SIGHTS: Final = {
    "conversation": "",
    "account": "",
    "effect": "effects",
    "statement": "effects",
    "reconciliation": "effects",
    "request": "retention",
    "hold": "retention",
    "job": "jobs",
}
_ENDING: Final = re.compile(r"[A-Za-z0-9_-]{6,255}")
_IDS: Final = "SELECT source, whole FROM console_ids_ending_so(%s, %s, %s::bigint[], %s)"


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole id; `uuid` where it is one of ours."""

    term: str
    uuid: UUID | None


def may_be_an_end(text: str) -> bool:
    return _ENDING.fullmatch(text) is not None


def ids_ending_so(ending: str, *, begin: str, sight: Sight) -> list[Whole]:
    """Return the ids that end so, and begin so where that is known too; one query.

    Those of messages, calls and attempts are not among them: they have no index of ends.
    """
    with connection.cursor() as cursor:
        cursor.execute(_IDS, [ending, uuid_ending(ending), sight.realm_ids, MOST_OF_A_KIND])
        found = [whole for source, whole in cursor.fetchall() if _opens(source, sight)]
    return [
        Whole(whole, _uuid(whole))
        for whole in dict.fromkeys(found)
        if whole.lower().startswith(begin.lower())
    ]


def uuid_ending(text: str) -> str | None:
    """Return the end of a uuid with its hyphens where they belong; None where no uuid ends so."""
    digits = text.replace("-", "").lower()
    if not SHORTEST_END <= len(digits) < 32 or any(digit not in "0123456789abcdef" for digit in digits):
        return None
    whole = str(UUID(digits.rjust(32, "0")))
    for start in range(len(whole)):
        if whole[start] != "-" and len(whole[start:].replace("-", "")) == len(digits):
            return whole[start:]
    return None


def _opens(source: str, sight: Sight) -> bool:
    right = _SIGHTS[source]
    return not right or getattr(sight, right)


def _uuid(whole: str) -> UUID | None:
    try:
        return UUID(whole)
    except ValueError:
        return None
