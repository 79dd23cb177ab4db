"""Around a list: its pages, its filters, and what stands there when it is empty."""

from collections.abc import Iterable
from typing import Any, Final

from console.filtering import FilterGroup

# Three kinds with three texts: how it begins, what was looked at and how to widen, all is done.
EMPTY_KINDS: Final = ("nothing-yet", "no-match", "all-done")


def pages(newer: str = "", older: str = "", csv: str = "", rows: int | None = None) -> dict[str, Any]:
    """{% pages newer=url older=url [csv=url [rows=n]] %}: pages by key, so there is no count of pages."""
    return {"newer": newer, "older": older, "csv": csv, "rows": rows}


def filter_column(groups: Iterable[FilterGroup], clear: str = "") -> dict[str, Any]:
    """{% filter_column groups [clear=url] %}: the column right of a list; see `console.filtering`."""
    shown = list(groups)
    return {"groups": shown, "clear": clear if any(group.is_set for group in shown) else ""}


def empty(kind: str, title: str, text: str = "", actions: Iterable[tuple[str, str]] = ()) -> dict[str, Any]:
    """{% empty "nothing-yet"|"no-match"|"all-done" title [text=…] [actions=((label, url), …)] %}

    An empty list says how it begins or how to widen it: without a text only "all-done" is whole.
    """
    if kind not in EMPTY_KINDS:
        raise ValueError(f"{kind!r} is no kind of emptiness: {', '.join(EMPTY_KINDS)}")
    if not text and kind != "all-done":
        raise ValueError(f"an empty list of kind {kind!r} needs a text: how it begins, or what was looked at")
    return {"kind": kind, "title": title, "text": text, "actions": list(actions)}


def failed_part(reference: str = "", retry: str = "") -> dict[str, Any]:
    """{% failed_part [reference=id] [retry=url] %}: in place of a part that could not be loaded."""
    return {"reference": reference, "retry": retry}


def gate(form: Any, action: str = "", hours: int = 4, back: str = "") -> dict[str, Any]:
    """{% gate form [action=url] [hours=4] [back=url] %}: states why before texts are shown.

    `form` is the form of the stated reason; its labels, help and errors stand where they belong.
    """
    return {"form": form, "action": action, "hours": hours, "back": back}
