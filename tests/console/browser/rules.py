"""Pages held against axe's rules of accessibility."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def serious(page: Page) -> list[str]:
    """What breaks a rule in a way that axe calls serious or critical: the rule, and where."""
    return [
        f"{found['id']}: {node['html'][:160]}"
        for found in Axe().run(page).response["violations"]
        if found["impact"] in ("serious", "critical")
        for node in found["nodes"]
    ]


def accessible(page: Page) -> None:
    assert serious(page) == []
