"""Texts open for a stated reason, and every reading is a row in the access log."""

from datetime import timedelta

from django.utils import timezone

from access.models import AccessEntry, StatedReason
from access.rights import RoleName
from tests.console.conversation.conftest import SECRET, entries


def test_before_a_reason_the_page_shows_structure_times_calls_and_money_but_no_words(log_in, told):
    page = log_in(RoleName.SUPPORT).get(f"/conversations/{told.pk}/").content.decode()

    assert "Texts and payloads are withheld" in page
    assert "Text withheld, 14 characters" in page
    assert "arguments and result withheld" in page
    assert ">book</bdi>" in page
    assert "14C" not in page
    assert f"<title>Conversation …{told.pk.hex[-6:]}, 9 Mar 2026, 14:03 | Counterfoil</title>" in page
    assert entries() == [("open", "page", str(told.pk))]


def test_a_stated_reason_opens_the_texts_where_one_was_and_is_logged(log_in, told):
    support = log_in(RoleName.SUPPORT)

    answered = support.post(f"/conversations/{told.pk}/open/?m=2", {"ticket": "SUP-48213", "words": ""})

    assert (answered.status_code, answered["Location"]) == (302, f"/conversations/{told.pk}/?m=2")
    page = support.get(answered["Location"]).content.decode()
    assert SECRET in page
    assert "<title>Seat 14C-title | Counterfoil</title>" in page
    assert "14C-argument" in page
    assert "<b><bdi>SUP-48213</bdi></b>" in page
    reason = StatedReason.objects.get()
    assert entries() == [
        ("state_reason", "conversation", str(told.pk)),
        ("open", "conversation", str(told.pk)),
    ]
    assert AccessEntry.objects.get(action="open").reason_id == reason.pk


def test_without_a_ticket_a_sentence_is_asked_for_and_nothing_opens(log_in, told):
    support = log_in(RoleName.SUPPORT)

    page = support.post(f"/conversations/{told.pk}/open/", {"ticket": "", "words": "curious"})

    assert page.status_code == 422
    assert "Give a ticket number" in page.content.decode()
    assert "14C" not in page.content.decode()
    assert not StatedReason.objects.exists()


def test_a_reason_ends_with_its_period_and_when_it_is_closed(log_in, told):
    support = log_in(RoleName.SUPPORT)
    support.post(f"/conversations/{told.pk}/open/", {"ticket": "SUP-1"})
    assert SECRET in support.get(f"/conversations/{told.pk}/").content.decode()

    support.post(f"/conversations/{told.pk}/close/")
    assert SECRET not in support.get(f"/conversations/{told.pk}/").content.decode()

    support.post(f"/conversations/{told.pk}/open/", {"ticket": "SUP-1"})
    StatedReason.objects.update(
        stated_at=timezone.now() - timedelta(days=2), valid_until=timezone.now() - timedelta(days=1)
    )
    assert SECRET not in support.get(f"/conversations/{told.pk}/").content.decode()


def test_the_reason_of_one_colleague_opens_nothing_for_another(log_in, told):
    log_in(RoleName.SUPPORT).post(f"/conversations/{told.pk}/open/", {"ticket": "SUP-1"})

    page = log_in(RoleName.SUPPORT, name="another").get(f"/conversations/{told.pk}/").content.decode()

    assert SECRET not in page


def test_a_further_piece_of_the_thread_is_withheld_and_logged_like_the_page(log_in, told):
    support = log_in(RoleName.SUPPORT)

    withheld = support.get(f"/conversations/{told.pk}/thread/?from=0&to=4").content.decode()
    support.post(f"/conversations/{told.pk}/open/", {"ticket": "SUP-1"})
    shown = support.get(f"/conversations/{told.pk}/thread/?from=0&to=4").content.decode()

    assert "14C" not in withheld
    assert SECRET in shown
    assert entries(action="open") == [
        ("open", "page", f"{told.pk}#1-4"),
        ("open", "message", f"{told.pk}#1-4"),
    ]


def test_an_error_in_a_providers_words_is_withheld_like_a_text(log_in, told):
    support = log_in(RoleName.SUPPORT)

    assert "14C" not in support.get(f"/conversations/{told.pk}/attempts/1/").content.decode()


def test_personal_details_are_masked_until_revealed_which_is_logged(log_in, told):
    support = log_in(RoleName.SUPPORT)

    masked = support.get(f"/conversations/{told.pk}/").content.decode()
    revealed = support.post(
        f"/conversations/{told.pk}/reveal/", headers={"HX-Request": "true"}
    ).content.decode()

    assert "I••• O•••••" in masked
    assert "i•••@example.com" in masked
    assert "Inês" not in masked
    assert "Inês Okafor" in revealed
    assert "ines@example.com" in revealed
    assert entries(action="reveal") == [("reveal", "account", str(told.account_id))]
    assert log_in(RoleName.AUDITOR).post(f"/conversations/{told.pk}/reveal/").status_code == 403
