"""The column of filters beside a list: what can be chosen, what is chosen, and where each leads."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from django.http import QueryDict

_TIMES: Final = ((1, "Today"), (7, "Last 7 days"), (30, "Last 30 days"))
# Where a page of a list begins. Another filter is another list, and begins at its start.
CURSORS = ("after", "before")


class Choice(NamedTuple):
    label: str
    url: str
    is_selected: bool


class FilterGroup(NamedTuple):
    """One filter: its name in the address, its heading, its choices; the first lifts the filter."""

    name: str
    title: str
    choices: list[Choice]

    @property
    def is_set(self) -> bool:
        return not self.choices[0].is_selected


def filter_group(
    *, query: QueryDict, name: str, title: str, options: Iterable[tuple[str, str]], every: str = "All"
) -> FilterGroup:
    """Return the choices of one filter over the list that `query` describes.

    `options` are (value, label). A value in the address that is no option selects nothing.
    """
    current = query.get(name, "")
    choices = [Choice(every, _with(query, name, ""), not current)]
    choices += [Choice(label, _with(query, name, value), value == current) for value, label in options]
    return FilterGroup(name, title, choices)


def days_back(days: int, *, now: datetime) -> datetime:
    """Return the begin (UTC) of the first of the last `days` days, today being one."""
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=days - 1)


def since_options(*, now: datetime) -> list[tuple[str, str]]:
    """Return the usual spans up to now, each by the moment at which it begins."""
    return [(stamp(days_back(days, now=now)), label) for days, label in _TIMES]


def stamp(moment: datetime) -> str:
    """Spell a moment (UTC) as an address has it."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def without(query: QueryDict, *names: str) -> str:
    """Return the address of this list with some of its filters lifted, from its start."""
    rest = query.copy()
    for name in (*names, *CURSORS):
        rest.pop(name, None)
    return f"?{rest.urlencode()}"


def _with(query: QueryDict, name: str, value: str) -> str:
    changed = query.copy()
    for cursor in CURSORS:
        changed.pop(cursor, None)
    changed.pop(name, None)
    if value:
        changed[name] = value
    return f"?{changed.urlencode()}"
