import pytest

from console.navigation import Entry, Menu, Page, Section, menus

SECTIONS = (
    Section(
        "Console", ("console",), (Page("Tables", "admin:index"), Page("Log in", "admin:login", "console.see"))
    ),
    Section("Access", ("access", "auth")),
)


def app(label: str, *models: tuple[str, str | None]) -> dict[str, object]:
    listed = [{"name": name, "admin_url": url} for name, url in models]
    return {"app_label": label, "name": label.capitalize(), "models": listed}


class Person:
    def __init__(self, *permissions: str) -> None:
        self.permissions = permissions

    def has_perm(self, perm: str) -> bool:
        return perm in self.permissions


APPS = [
    app("other", ("Things", "/admin/other/thing/"), ("Hidden", None)),
    app("auth", ("Users", "/admin/auth/user/")),
    app("access", ("Realms", "/admin/access/realm/")),
]


def test_the_menu_has_its_sections_in_order_and_apps_that_no_section_names_last():
    seen = menus(user=Person("console.see"), path="/nowhere/", available_apps=APPS, sections=SECTIONS)

    assert seen == [
        Menu("Console", [Entry("Tables", "/admin/", False), Entry("Log in", "/admin/login/", False)]),
        Menu(
            "Access",
            [Entry("Realms", "/admin/access/realm/", False), Entry("Users", "/admin/auth/user/", False)],
        ),
        Menu("Other", [Entry("Things", "/admin/other/thing/", False)]),
    ]


def test_a_page_is_hidden_from_those_who_may_not_see_it_and_an_empty_section_from_all():
    sections = (SECTIONS[0], Section("Jobs", ("jobs",)))

    seen = menus(user=Person(), path="/", available_apps=APPS[:1], sections=sections)

    assert seen == [
        Menu("Console", [Entry("Tables", "/admin/", False)]),
        Menu("Other", [Entry("Things", "/admin/other/thing/", False)]),
    ]


def test_the_page_of_all_tables_is_hidden_from_those_who_see_no_table():
    seen = menus(user=Person("console.see"), path="/", available_apps=[], sections=SECTIONS)

    assert seen == [Menu("Console", [Entry("Log in", "/admin/login/", False)])]


@pytest.mark.parametrize(
    ("path", "current"),
    [
        ("/admin/", "Tables"),
        ("/admin/auth/user/", "Users"),
        ("/admin/auth/user/7/change/", "Users"),
        ("/admin/auth/", None),
        ("/", None),
    ],
)
def test_the_entry_that_holds_the_page_is_current(path, current):
    seen = menus(user=Person(), path=path, available_apps=APPS, sections=SECTIONS)

    assert [entry.label for menu in seen for entry in menu.entries if entry.is_current] == (
        [current] if current else []
    )
