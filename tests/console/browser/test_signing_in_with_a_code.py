"""Somebody's first day: password, second factor, recovery codes, and a page that is not for the role."""

import re

import pytest
from django.contrib.auth.models import Group, User
from django_otp.plugins.otp_totp.models import TOTPDevice
from playwright.sync_api import expect

from access.models import AccessEntry, StaffMember
from tests.access.codes import code_of

PASSWORD = "correct horse battery"

pytestmark = pytest.mark.browser


@pytest.fixture
def require_second_factor(settings):
    settings.REQUIRE_SECOND_FACTOR = True


def hire(role: str) -> User:
    user = User.objects.create_user("maja", password=PASSWORD, is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    StaffMember.objects.create(user=user, sees_all_realms=True)
    return user


def give_password(page):
    page.get_by_label("Username:").fill("maja")
    page.get_by_label("Password:").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def test_a_second_factor_is_set_up_and_then_asked_for(
    open_page, live_server, transactional_db, require_second_factor, complaints
):
    user = hire("auditor")
    page = open_page("/access-log/")

    give_password(page)
    expect(page.get_by_text("The console opens once yours is set up.")).to_be_visible()
    page.get_by_role("link", name="Set up a second factor").click()
    picture = page.get_by_role("img", name="QR code of the key below")
    expect(picture).to_be_visible()
    # Visible is the place of it; `decode` waits until it is there, and fails if it cannot be shown.
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    device = TOTPDevice.objects.get()
    assert re.fullmatch(r"([A-Z2-7]{4} ){7}[A-Z2-7]{4}", page.locator("#secret").inner_text())

    page.get_by_label("Code").fill(code_of(device))
    page.get_by_role("button", name="Take it into use").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    assert page.locator(".recovery-codes li").count() == 10

    page.get_by_role("button", name="Log out").click()
    page.goto(f"{live_server.url}/access-log/")
    give_password(page)
    expect(page.get_by_role("heading", name="Enter a code")).to_be_visible()
    page.get_by_label("Code").fill("recovery")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("This code is wrong, was used before, or has run out.")).to_be_visible()
    # The code of the next half minute: the one that took the device into use works once only.
    page.get_by_label("Code").fill(code_of(TOTPDevice.objects.get(), steps_on=1))
    page.get_by_role("button", name="Log in").click()

    expect(page.get_by_role("heading", name="Access log")).to_be_visible()
    actions = [entry.action for entry in AccessEntry.objects.order_by("id")]
    assert actions == ["sign_in", "change", "sign_out", "sign_in_failed", "sign_in"]
    assert {entry.actor_id for entry in AccessEntry.objects.all()} == {str(user.pk), ""}
    assert complaints == []


def test_a_role_is_refused_a_page_with_the_reason_and_a_line_in_the_log(open_page, transactional_db):
    user = hire("support")
    page = open_page("/access-log/", user=user)

    expect(page.get_by_role("heading", name="You may not do this")).to_be_visible()
    expect(page.get_by_text("Can read the access log")).to_be_visible()
    line = AccessEntry.objects.get()
    assert (line.action, line.actor_id, line.target_id) == ("refused", str(user.pk), "console:access-log")
