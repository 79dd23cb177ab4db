"""The menu: sections in a fixed order, each with the console's own pages and then its stock tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from django.urls import reverse

_TABLES: Final = "admin:index"


@dataclass(frozen=True, slots=True)
class Page:
    """A page of our own: shown to those who hold `permission`, or to all staff where it is empty."""

    label: str
    url_name: str
    permission: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """`apps` are the labels of the apps whose tables stand in this section."""

    title: str
    apps: tuple[str, ...]
    pages: tuple[Page, ...] = ()


SECTIONS: Final = (
    Section(
        "Console",
        ("console",),
        (
            Page("Home", "console:home"),
            Page("Search", "console:search", "access.read_conversations"),
            Page("Tables", _TABLES),
        ),
    ),
    Section(
        "Conversations",
        ("conversations",),
        (
            Page("Conversations", "console:conversations", "access.read_conversations"),
            Page("Accounts", "console:accounts", "access.read_conversations"),
            Page("Tools", "console:tools", "access.read_tools"),
            Page("Cost", "console:costs", "access.read_costs"),
        ),
    ),
    Section(
        "Ledger",
        ("ledger",),
        (
            Page("Effects", "console:effects", "access.read_effects"),
            Page("Abandoned charges", "console:abandoned", "access.read_effects"),
            Page("Findings", "console:findings", "access.read_effects"),
            Page("Reconciliation runs", "console:reconciliations", "access.read_effects"),
            Page("Statements", "console:statements", "access.read_effects"),
            Page("Refunds", "console:refunds", "access.read_effects"),
            Page("Questions", "console:questions", "access.read_effects"),
            Page("Events", "console:events", "access.read_effects"),
            Page("Tool registry", "console:tool-registry", "access.read_effects"),
        ),
    ),
    Section(
        "Retention",
        ("retention",),
        (
            Page("Erasure requests", "console:erasures", "access.read_retention"),
            Page("Legal holds", "console:holds", "access.read_retention"),
            Page("Policies", "console:policies", "access.read_retention"),
            Page("Redaction", "console:redactions", "access.edit_policies"),
        ),
    ),
    Section(
        "Access",
        ("access", "auth"),
        (
            Page("Access log", "console:access-log", "access.read_access_log"),
            Page("API keys", "console:api-keys", "access.manage_keys"),
        ),
    ),
    Section(
        "Jobs",
        ("jobs",),
        (
            Page("Jobs", "console:jobs", "access.read_jobs"),
            Page("Runs", "console:job-runs", "access.read_jobs"),
        ),
    ),
)


class Entry(NamedTuple):
    label: str
    url: str
    is_current: bool


class Menu(NamedTuple):
    title: str
    entries: list[Entry]


class HasPermissions(Protocol):
    def has_perm(self, perm: str) -> bool: ...


def menus(
    *,
    user: HasPermissions,
    path: str,
    available_apps: Iterable[Mapping[str, Any]],
    sections: Iterable[Section] = SECTIONS,
) -> list[Menu]:
    """Return the menu as `user` sees it; the entry whose address holds `path` most closely is current.

    Tables of an app that no section names come last, under the app's own name. The page of all
    tables is left out for who sees none.
    """
    apps = {app["app_label"]: app for app in available_apps}
    left_out = "" if apps else _TABLES
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for section in sections:
        links = [
            (page.label, reverse(page.url_name))
            for page in section.pages
            if page.url_name != left_out and _may_see(user, page)
        ]
        for label in section.apps:
            links += _tables(apps.pop(label, None))
        found.append((section.title, links))
    found += [(str(app["name"]), _tables(app)) for app in apps.values()]
    current = _closest(path, (url for _, links in found for _, url in links))
    return [
        Menu(title, [Entry(label, url, url == current) for label, url in links])
        for title, links in found
        if links
    ]


def _may_see(user: HasPermissions, page: Page) -> bool:
    return not page.permission or user.has_perm(page.permission)


def _tables(app: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    models = app["models"] if app else ()
    return [(str(model["name"]), model["admin_url"]) for model in models if model["admin_url"]]


def _closest(path: str, urls: Iterable[str]) -> str:
    """The root of the site or of the tables holds every path, and is current only on itself."""
    roots = {"/", reverse(_TABLES)}
    holding = (url for url in urls if path == url or (url not in roots and path.startswith(url)))
    return max(holding, key=len, default="")
