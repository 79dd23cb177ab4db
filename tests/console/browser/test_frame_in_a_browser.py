"""The frame under its real policy in a real browser: keys, copying, parts, themes, narrow screens."""

import re
from pathlib import Path

import pytest
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template import engines
from django.urls import include, path
from playwright.sync_api import expect

from config.urls import urlpatterns as product_urls
from console.urls import urlpatterns as console_pages

THREAD = Path(__file__).with_name("thread.html")
ODD = "call\u202e_123456"


def thread(request: HttpRequest) -> HttpResponse:
    context = {
        **admin.site.each_context(request),
        "title": "Lisbon \u202etrip",
        "said": "voucher \u202e1447 <b onclick=alert(1)>" + "x" * 200_000,
        "odd": ODD,
    }
    return HttpResponse(engines["django"].from_string(THREAD.read_text()).render(context, request))


def part(request: HttpRequest) -> HttpResponse:
    if "fail" in request.GET:
        return HttpResponse("no", status=500)
    return HttpResponse("<p>New content</p><script>document.title = 'run'</script>")


console_urls = ([path("search/", thread, name="search"), *console_pages], "console")
urlpatterns = [path("thread/", thread), path("part/", part), path("", include(console_urls)), *product_urls]

pytestmark = [pytest.mark.browser, pytest.mark.urls(__name__)]


def focused(page) -> str:
    return page.evaluate("document.activeElement.id")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "address", ["/thread/", "/admin/", "/admin/auth/user/", "/admin/auth/user/add/", "/admin/auth/group/add/"]
)
def test_the_policy_refuses_nothing_that_is_ours(open_page, staff, complaints, address, scheme):
    page = open_page(address, user=staff, scheme=scheme)

    page.wait_for_load_state("networkidle")
    assert complaints == []


def test_the_first_tab_stops_are_the_way_to_the_content_the_mark_and_the_search(open_page, staff):
    page = open_page("/thread/", user=staff)
    stops = []
    for _ in range(3):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate("document.activeElement.textContent.trim() || document.activeElement.name")
        )

    assert stops == ["Skip to main content", "Counterfoil", "q"]


def test_keys_walk_through_the_thread(open_page, staff):
    page = open_page("/thread/", user=staff)

    walked = []
    for key in ("j", "j", "j", "k", "k"):
        page.keyboard.press(key)
        walked.append(focused(page))

    assert walked == ["m1", "m2", "m2", "m1", "m1"]


def test_brackets_lead_to_the_other_versions_of_the_message_that_has_focus(open_page, staff):
    page = open_page("/thread/", user=staff)

    page.keyboard.press("]")
    assert page.url.endswith("/thread/")

    page.keyboard.press("j")
    page.keyboard.press("]")
    page.wait_for_url("**/thread/?version=3")
    page.keyboard.press("j")
    page.keyboard.press("[")
    page.wait_for_url("**/thread/?version=1")


def test_one_key_opens_and_closes_all_calls(open_page, staff):
    page = open_page("/thread/", user=staff)
    open_calls = "document.querySelectorAll('details.block[open]').length"

    page.keyboard.press("e")
    assert page.evaluate(open_calls) == 2
    page.keyboard.press("e")
    assert page.evaluate(open_calls) == 0


def test_slash_goes_to_the_search_and_keys_never_fire_in_fields(open_page, staff):
    page = open_page("/thread/", user=staff)

    page.keyboard.press("/")
    page.keyboard.type("j/e?")

    assert page.input_value("#q") == "j/e?"
    assert page.evaluate("document.querySelector('#keys').open") is False


def test_single_keys_can_be_switched_off_and_on_again(open_page, staff):
    page = open_page("/thread/", user=staff)

    page.keyboard.press("?")
    with page.expect_response("**/keys/"):
        page.uncheck("#keys-on")
    page.click("#keys button")
    page.keyboard.press("j")
    assert focused(page) != "m1"

    page.reload()
    page.keyboard.press("?")
    assert page.evaluate("document.querySelector('#keys').open") is False

    page.click("[data-keys-open]")
    with page.expect_response("**/keys/"):
        page.check("#keys-on")
    page.click("#keys button")
    page.keyboard.press("j")
    assert focused(page) == "m1"


def test_an_identifier_is_copied_and_that_is_said(open_page, staff):
    page = open_page("/thread/", user=staff)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    page.click("#content .copy >> nth=0")
    expect(page.locator("#live")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "019ab6c2-7c1e-7b33-9a52-4e6f10c2d8b7"

    page.click("#content .copy >> nth=1")
    expect(page.locator("#content .copy").nth(1)).to_have_class("copy is-copied")
    assert page.evaluate("navigator.clipboard.readText()") == ODD


def test_a_part_is_loaded_in_place_and_its_scripts_do_not_run(open_page, staff):
    page = open_page("/thread/", user=staff)

    page.click("text='Load'")
    page.wait_for_selector("#part >> text=New content")

    assert page.title() == "Lisbon [U+202E]trip | Counterfoil"
    assert page.get_attribute("#part", "aria-busy") is None


def test_a_part_that_fails_says_so_and_leaves_the_rest(open_page, staff):
    page = open_page("/thread/", user=staff)

    page.click("text='Load and fail'")
    page.wait_for_selector("#part [role=alert]")

    assert re.fullmatch(
        "This part could not be loaded. The rest of the page is complete. Reference [0-9a-f]{32}",
        page.inner_text("#part [role=alert]"),
    )
    assert page.inner_text("#part > p") == "Old content"


@pytest.mark.parametrize("width", [1280, 768, 400])
def test_no_text_makes_the_page_wider_than_its_window(open_page, staff, width):
    page = open_page("/thread/", user=staff, width=width)

    page.click("text=The other 196,")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_below_1024_px_the_menu_is_a_drawer_opened_by_a_link(open_page, staff):
    page = open_page("/thread/", user=staff, width=768)

    assert not page.is_visible("#nav-sidebar")
    page.click(".menu-link")
    assert page.is_visible("#nav-sidebar")
    page.click(".nav-close")
    assert not page.is_visible("#nav-sidebar")


def test_the_theme_follows_the_toggle_and_stays(open_page, staff):
    page = open_page("/thread/", user=staff, scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(255, 255, 255)"

    page.click(".theme-toggle")
    assert page.evaluate(ground) == "rgb(22, 27, 33)"

    page.reload()
    assert page.evaluate(ground) == "rgb(22, 27, 33)"


def test_print_is_light_opens_every_fold_and_drops_the_frame(open_page, staff):
    page = open_page("/thread/", user=staff, scheme="dark")

    page.emulate_media(media="print")

    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
    assert not page.is_visible("#header")
    assert not page.is_visible("#nav-sidebar")
    assert page.is_visible("details.block pre >> nth=0")
    assert page.is_visible(".print-only >> nth=0")
