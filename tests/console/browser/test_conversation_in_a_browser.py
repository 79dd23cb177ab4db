"""Journeys of support through a conversation, in a real browser: no complaint, no serious violation."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import Page, expect

from access.models import AccessEntry, Realm, StaffMember, StatedReason
from conversations.drafts import MessageDraft, PartDraft
from conversations.models import Conversation
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message, edit_message, regenerate_message
from conversations.services.starting import start_conversation
from conversations.vocabulary import PartType, Role
from tests.console.browser.rules import accessible
from tests.console.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, call, results, user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>\u202eevil\u200b [31m "


@pytest.fixture
def support(transactional_db: None) -> User:
    return _staff("support")


@pytest.fixture
def officer(transactional_db: None) -> User:
    return _staff("privacy_officer")


def _staff(role: str) -> User:
    member = User.objects.create_user(role, is_staff=True, first_name="Maja", last_name="Lind")
    member.groups.add(Group.objects.get(name=role))
    StaffMember.objects.create(user=member, sees_all_realms=True)
    return member


@pytest.fixture
def story(transactional_db: None) -> Conversation:
    """An answer regenerated, a question edited, a call, an attachment; hostile text wherever it fits."""
    realm = Realm.objects.create(slug="wendelmere-eu", name="Wendelmere", created_at=NOW)
    account = ensure_account(
        realm=realm, external_id="cus-1001", label=HOSTILE, email="ines@example.com", now=NOW
    )
    conversation = start_conversation(account_id=account.pk, now=NOW, title=f"Lisbon {HOSTILE}")
    fields = {"conversation_id": conversation.pk, "actor": CUSTOMER}
    clock = (NOW + timedelta(minutes=minute) for minute in range(60))

    def say(message: MessageDraft) -> None:
        append_message(message=message, now=next(clock), **fields)

    say(user("Find my booking"))
    say(
        MessageDraft(
            Role.ASSISTANT, [PartDraft(PartType.TEXT, text=HOSTILE), call("toolu_1", "find_booking")]
        )
    )
    say(results("toolu_1"))
    say(assistant("Found it."))
    regenerate_message(seq=4, message=assistant("Found it, on 19 December."), now=next(clock), **fields)
    say(user("Buy 2,000 credits"))
    say(assistant("Bought 2,000 credits."))
    edit_message(seq=6, message=user("Buy 1,500 credits"), now=next(clock), **fields)
    image = b'{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}'
    say(
        MessageDraft(
            Role.ASSISTANT,
            [
                PartDraft(PartType.TEXT, text="Bought 1,500."),
            ],
        )
    )
    say(MessageDraft(Role.USER, [PartDraft(PartType.IMAGE, payload=image)]))
    return conversation


def shown(page: Page) -> list[str]:
    return page.locator(".thread:not(.is-later) > [id^=m]").evaluate_all(
        "turns => turns.map(turn => turn.id)"
    )


def test_support_states_a_reason_and_reads_on_which_is_logged(open_page, support, story, complaints):
    page = open_page(f"/conversations/{story.pk}/", user=support)
    expect(page.get_by_role("heading", name="Texts and payloads are withheld")).to_be_visible()
    assert "Find my booking" not in page.content()
    # The title is made from what was said.
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Conversation …{story.pk.hex[-6:]}")
    assert "Lisbon" not in page.content()
    accessible(page)

    page.get_by_label("Ticket number").fill("SUP-48213")
    page.get_by_role("button", name="Open for").click()

    expect(page.get_by_text("Find my booking")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Lisbon")
    expect(page.locator(".gatebar")).to_contain_text("SUP-48213")
    reason = StatedReason.objects.get()
    assert list(AccessEntry.objects.order_by("pk").values_list("action", "target_kind", "reason_id")) == [
        ("open", "page", None),
        ("state_reason", "conversation", reason.pk),
        ("open", "conversation", reason.pk),
    ]
    page.get_by_role("button", name="Close now").click()
    expect(page.get_by_role("heading", name="Texts and payloads are withheld")).to_be_visible()
    assert page.evaluate("window.pwned") is None
    assert complaints == []


def test_an_officer_places_a_hold_from_the_page_and_the_purge_waits(open_page, officer, story, complaints):
    page = open_page(f"/conversations/{story.pk}/", user=officer)
    expect(page.locator("dl")).not_to_contain_text("it is held")

    page.get_by_role("link", name="Place a hold").click()
    page.get_by_label("Matter").fill("M-2026-7")
    page.get_by_role("button", name="Place the hold").click()
    expect(page.get_by_text("The hold is in force.")).to_be_visible()
    page.goto(page.url.split("/retention/")[0] + f"/conversations/{story.pk}/")

    expect(page.locator("dl")).to_contain_text("not while it is held (M-2026-7)")
    assert complaints == []


def test_branches_of_a_regenerate_and_an_edit_are_walked_by_link_and_by_key(
    open_page, officer, story, complaints
):
    page = open_page(f"/conversations/{story.pk}/", user=officer)
    assert shown(page) == ["m1", "m2", "m3", "m5", "m8", "m9", "m10"]

    page.locator("#m8").get_by_label("Version 1 of 2").click()
    page.wait_for_url("**m=6#m6")
    assert shown(page) == ["m1", "m2", "m3", "m5", "m6", "m7"]
    expect(page.get_by_text("You read a branch that the customer does not see now")).to_be_visible()

    page.locator("#m5").get_by_label("Version 1 of 2").click()
    page.wait_for_url("**m=4#m4")
    assert shown(page) == ["m1", "m2", "m3", "m4"]

    page.locator("#m4").evaluate("turn => { turn.tabIndex = -1; turn.focus(); }")
    page.keyboard.press("]")
    page.wait_for_url("**m=5#m5")
    assert shown(page)[:5] == ["m1", "m2", "m3", "m5", "m8"]
    story.refresh_from_db()
    assert (story.head_seq, complaints) == (10, [])


def test_as_of_a_move_shows_what_the_head_log_says(open_page, officer, story, complaints):
    page = open_page(f"/conversations/{story.pk}/", user=officer)

    page.get_by_role("link", name="Show all").click()
    page.locator(".headlog tr", has_text="#7").locator("td:nth-child(2) a").click()

    page.wait_for_url("**move=*")
    assert shown(page) == ["m1", "m2", "m3", "m5", "m6", "m7"]
    expect(page.locator(".thread.is-later #m8")).to_be_visible()
    expect(page.locator(".asof-bar")).to_contain_text("You see the path that was live then")
    accessible(page)
    page.get_by_label(re.compile("Show as of")).fill("2026-03-09 14:06:00")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator(".asof-bar")).to_be_visible()
    assert shown(page) == ["m1", "m2", "m3", "m4"]
    page.locator(".asof-bar").get_by_role("link", name="Back to now").click()
    assert shown(page)[-1] == "m10"
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_two_branches_are_compared(open_page, officer, story, complaints, scheme):
    page = open_page(f"/conversations/{story.pk}/?m=7", user=officer, scheme=scheme)

    page.get_by_role("link", name="Compare", exact=True).click()

    expect(page.get_by_role("heading", name="Compare two branches")).to_be_visible()
    expect(page.locator("del", has_text="2,000").first).to_be_visible()
    expect(page.locator("ins", has_text="1,500").first).to_be_visible()
    accessible(page)
    page.get_by_role("link", name="Swap sides").click()
    expect(page.locator("del", has_text="1,500").first).to_be_visible()
    assert page.evaluate("window.pwned") is None
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 480])
def test_list_and_page_are_accessible_and_run_nothing(open_page, officer, story, complaints, scheme, width):
    page = open_page("/conversations/", user=officer, scheme=scheme, width=width)
    accessible(page)

    page.get_by_role("link", name="Lisbon").click()
    page.wait_for_url(f"**/conversations/{story.pk}/")
    expect(page.locator("details.block").first).to_be_visible()
    page.keyboard.press("e")
    expect(page.locator("details.block").first).to_have_attribute("open", "")
    accessible(page)

    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert complaints == []


def test_earlier_messages_load_in_place_and_a_deep_link_lands_on_its_message(
    open_page, officer, transactional_db, complaints
):
    realm = Realm.objects.create(slug="long", name="Long", created_at=NOW)
    account = ensure_account(realm=realm, external_id="long", now=NOW)
    conversation = start_conversation(account_id=account.pk, now=NOW, title="Long")
    for number in range(120):
        message = user(f"q{number}") if number % 2 == 0 else assistant(f"a{number}")
        now = NOW + timedelta(seconds=number)
        append_message(conversation_id=conversation.pk, message=message, actor=CUSTOMER, now=now)

    page = open_page(f"/conversations/{conversation.pk}/", user=officer)
    assert shown(page)[0] == "m71"
    page.get_by_role("link", name="Show earlier messages").click()
    expect(page.locator("#m21")).to_be_attached()
    page.get_by_role("link", name="Show earlier messages").click()
    expect(page.locator("#m1")).to_be_attached()
    assert shown(page) == [f"m{seq}" for seq in range(1, 121)]

    page.goto(page.url.split("?")[0] + "#m3")
    page.reload()
    expect(page.locator("#m3")).to_be_in_viewport()
    assert complaints == []


def test_a_note_and_a_reveal_are_kept_with_their_rows(open_page, support, story, complaints):
    page = open_page(f"/conversations/{story.pk}/", user=support)

    page.get_by_role("button", name="Reveal").click()
    expect(page.get_by_text("ines@example.com")).to_be_visible()
    page.get_by_text("Add a note").click()
    page.get_by_label("Note", exact=True).fill("Called back")
    page.get_by_role("button", name="Add the note").click()

    expect(page.get_by_text("Note withheld, 11 characters")).to_be_visible()
    assert AccessEntry.objects.filter(action="reveal").count() == 1
    assert complaints == []
