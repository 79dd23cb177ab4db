"""The column of filters beside a list: what can be chosen, what is chosen, and where each leads."""

from collections.abc import Iterable
from typing import NamedTuple

from django.http import QueryDict

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
