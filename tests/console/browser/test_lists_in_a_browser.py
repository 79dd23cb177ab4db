"""Lists in a real browser: from a number of the cost page to its attempts; filters where it is narrow."""

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import expect

from access.models import StaffMember
from tests.console.browser.rules import accessible
from tests.conversations.drafts import assistant, user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PERIOD = "from=2026-03-01&to=2026-03-31"


@pytest.fixture
def auditor(transactional_db: None) -> User:
    member = User.objects.create_user("ada", is_staff=True)
    member.groups.add(Group.objects.get(name="auditor"))
    StaffMember.objects.create(user=member, sees_all_realms=True)
    return member


@pytest.fixture
def talk(make_conversation, say, answer):
    """A failed attempt and an answer."""
    conversation = make_conversation(title="Lisbon")
    asked = say(conversation, user())
    answer(conversation, asked, None, status="failed", error_code="overloaded_error")
    answer(conversation, asked, assistant(), attempt=2)
    return conversation


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_number_of_failed_attempts_leads_to_each_of_them(
    open_page, auditor, talk, complaints, tmp_path_factory, scheme
):
    page = open_page(f"/costs/?{PERIOD}", user=auditor, scheme=scheme)
    accessible(page)
    page.get_by_role("link", name="1 failed").click()

    rows = page.locator("table.rows-linked tbody tr")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("overloaded_error")
    accessible(page)
    page.screenshot(path=tmp_path_factory.mktemp("shots") / f"attempts-{scheme}.png")
    rows.first.get_by_role("link").first.click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("Attempt 1")
    assert complaints == []


def test_filters_are_folded_where_it_is_narrow_and_say_what_is_chosen(open_page, auditor, talk, complaints):
    page = open_page("/conversations/?has_fork=false", user=auditor, width=390)

    choice = page.locator("#changelist-filter").get_by_role("link", name="Yes").first
    expect(choice).to_be_hidden()
    expect(page.get_by_text("By forks: No")).to_be_visible()
    page.get_by_text("By effects").click()

    expect(choice).to_be_visible()
    assert page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth")
    assert complaints == []


def test_filters_stand_open_beside_the_list_where_there_is_room(open_page, auditor, talk):
    page = open_page("/conversations/?has_fork=false", user=auditor)

    expect(page.locator("#changelist-filter").get_by_role("link", name="Yes").first).to_be_visible()
    expect(page.get_by_text("By forks", exact=True)).to_be_visible()


def test_text_filters_stand_two_in_a_row_where_it_is_narrow(open_page, auditor, talk):
    page = open_page("/conversations/", user=auditor, width=390)

    boxes = [field.bounding_box() for field in page.locator(".filters input:not([type=hidden])").all()]
    assert len(boxes) == 6
    assert boxes[0]["y"] == boxes[1]["y"] < boxes[2]["y"] == boxes[3]["y"] < boxes[4]["y"] == boxes[5]["y"]
    assert {round(box["width"]) for box in boxes} == {round(boxes[0]["width"])}
    assert page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth")


def test_the_entry_of_the_page_is_in_sight_in_a_long_menu(open_page, auditor):
    page = open_page("/access-log/", user=auditor)
    page.set_viewport_size({"width": 1280, "height": 500})
    page.reload()

    entry = page.locator("#nav-sidebar a[aria-current=page]")
    assert entry.inner_text() == "Access log"
    assert 48 < entry.bounding_box()["y"] < 480
    assert page.evaluate("window.scrollY") == 0
