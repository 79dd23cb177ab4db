"""What a tired person meets: the keyboard alone, a session that ended, no scripts, a narrow screen."""

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from playwright.sync_api import expect

from access.models import Realm, StaffMember
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message
from conversations.services.starting import start_conversation
from tests.console.browser.conftest import log_in
from tests.console.conftest import CUSTOMER, NOW
from tests.conversations.drafts import user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# The ratio of WCAG 2: each button's text on its own ground while the button has focus.
FOCUSED = """() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const linear = (byte) => byte <= 10 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4;
    const luminance = (colour) => {
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
    };
    return [...document.querySelectorAll(".button, input[type=submit]")].filter((button) => {
        button.focus();
        return document.activeElement === button;
    }).map((button) => {
        button.focus();
        const { color, backgroundColor } = getComputedStyle(button);
        const both = [luminance(color), luminance(backgroundColor)];
        const [dark, light] = [Math.min(...both), Math.max(...both)];
        const name = button.textContent.trim() || button.value;
        return [name, { ratio: (light + 0.05) / (dark + 0.05), ground: backgroundColor }];
    });
}"""


@pytest.fixture
def support(transactional_db: None) -> User:
    member = User.objects.create_user("sue", is_staff=True)
    member.groups.add(Group.objects.get(name="support"))
    StaffMember.objects.create(user=member, sees_all_realms=True)
    return member


@pytest.fixture
def address(transactional_db: None) -> str:
    """A conversation of Inês Okafor."""
    realm = Realm.objects.create(slug="eu", name="Europe", created_at=NOW)
    account = ensure_account(
        realm=realm, external_id="cus-1", label="Inês Okafor", email="ines@example.com", now=NOW
    )
    conversation = start_conversation(account_id=account.pk, now=NOW, title="Lisbon")
    append_message(conversation_id=conversation.pk, actor=CUSTOMER, message=user(), now=NOW)
    return f"/conversations/{conversation.pk}/"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_button_can_be_read_while_it_has_the_focus(open_page, support, address, scheme):
    page = open_page(address, user=support, scheme=scheme)
    page.emulate_media(reduced_motion="reduce")

    seen = dict(page.evaluate(FOCUSED))

    assert {"Reveal", "Show", "Open for 8 hours", "Keys"} <= set(seen)
    assert {name: button for name, button in seen.items() if button["ratio"] < 4.5} == {}
    # The main one keeps its fill.
    assert seen["Open for 8 hours"]["ground"] != seen["Reveal"]["ground"] == seen["Show"]["ground"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_a_field_suggests_has_the_colour_of_help(open_page, support, address, scheme):
    page = open_page("/conversations/", user=support, scheme=scheme)

    suggested = page.get_by_label("Active until").evaluate(
        "it => getComputedStyle(it, '::placeholder').color"
    )

    assert suggested == page.locator(".titles h2").evaluate("it => getComputedStyle(it).color")


def test_what_is_revealed_stands_in_place_of_the_mask_and_has_the_focus(
    open_page, support, address, complaints
):
    page = open_page(address, user=support)
    personal = page.locator("#personal")
    expect(personal).to_contain_text("I••• O•••••")

    page.get_by_role("button", name="Reveal").focus()
    page.keyboard.press("Enter")

    expect(personal).to_have_text("Inês Okafor, ines@example.com")
    expect(personal).to_be_focused()
    page.keyboard.press("Tab")
    expect(personal.get_by_role("link")).to_be_focused()
    assert complaints == []


def test_after_the_session_ended_a_part_leads_to_the_log_in_and_back(open_page, support, address):
    page = open_page(f"{address}?move=1", user=support)
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)

    page.get_by_role("button", name="Reveal").click()

    page.wait_for_url("**/admin/login/**")
    assert page.locator("input[name=next]").input_value() == f"{address}?move=1"
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_a_stated_reason_stands_in_one_line_with_the_way_to_close_it(open_page, support, address):
    page = open_page(address, user=support)
    page.get_by_label("Ticket number").fill("SUP-1")
    page.get_by_role("button", name="Open for 8 hours").click()

    bar = page.locator(".gatebar")
    expect(bar.get_by_role("button", name="Close now")).to_be_visible()
    assert bar.bounding_box()["height"] < 40


def test_without_scripts_the_menu_stands_beside_the_page(browser, live_server, support, address):
    context = browser.new_context(viewport={"width": 1280, "height": 720}, java_script_enabled=False)
    log_in(context, live_server.url, support)
    page = context.new_page()
    page.goto(live_server.url + address)

    expect(page.locator("#nav-sidebar").get_by_role("link", name="Effects")).to_be_in_viewport()
    expect(page.locator("#toggle-nav-sidebar")).to_be_hidden()
    # What only a script could do is not offered.
    expect(page.locator(".copy").first).to_be_hidden()
    page.get_by_role("button", name="Reveal").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Personal details")
    context.close()


def test_the_drawer_of_the_menu_fills_the_screen_and_can_be_closed(open_page, support, address):
    page = open_page(address, user=support, width=390)
    page.get_by_role("link", name="Menu", exact=True).click()

    drawer = page.locator("#nav-sidebar").bounding_box()
    assert (drawer["y"], drawer["height"]) == (0, 800)
    page.get_by_role("link", name="Close menu").click()
    expect(page.locator("#nav-sidebar")).to_be_hidden()


def test_an_id_is_found_in_a_long_letter_in_another_script(open_page, support, address):
    page = open_page("/", user=support)
    box = page.get_by_label("Search every id, e-mail and text")

    box.fill(f"{'予約を二度請求されました。' * 140}{address} ご確認ください。")
    box.press("Enter")

    page.wait_for_url(f"**{address}**")
    box.fill("予約" * 900)
    box.press("Enter")
    page.wait_for_url("**/search/**")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
