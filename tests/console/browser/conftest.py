from collections.abc import Callable, Iterator
from typing import Literal

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page
from pytest_django.live_server_helper import LiveServer

from tests import chromium

OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for a file of tests.

    While it runs, Playwright keeps an event loop in this thread, and the ORM would take everything
    for asynchronous code; so it ends with its file.
    """
    if chromium.executable() is None:
        pytest.skip("there is no Chromium on this system; CHROMIUM may name one")
    with pytest.MonkeyPatch.context() as patch, chromium.browser() as launched:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        yield launched


@pytest.fixture
def staff(transactional_db: None) -> User:
    return User.objects.create_superuser("maja", first_name="Maja", last_name="Lind")


@pytest.fixture
def complaints() -> list[str]:
    """What browsers said of our pages: a refused style, a script that failed, a missing file."""
    return []


@pytest.fixture
def open_page(browser: Browser, live_server: LiveServer, complaints: list[str]) -> Iterator[OpenPage]:
    """Open a path of the live server in a window of its own, logged in where a user is given."""
    contexts = []

    def opened(
        path: str, *, user: User | None = None, width: int = 1280, scheme: Literal["light", "dark"] = "light"
    ) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: complaints.extend(grave(page, message)))
        page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
        if user is not None:
            log_in(context, live_server.url, user)
        page.goto(live_server.url + path)
        return page

    yield opened
    for context in contexts:
        context.close()


def grave(page: Page, message: ConsoleMessage) -> list[str]:
    """Browsers also give advice; what counts is what they refused or could not do."""
    return [f"{page.url}: {message.text}"] if message.type in ("error", "warning") else []


def log_in(context: BrowserContext, url: str, user: User) -> None:
    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": url}])
