"""Texts open for a stated reason; every reading is a row in the access log; each address checks its right."""

from datetime import timedelta

import pytest
from django.utils import timezone

from access.models import AccessEntry, Realm, StatedReason
from access.rights import RoleName
from conversations.drafts import MessageDraft, PartDraft
from conversations.models import ConversationNote
from conversations.services.raw_bodies import keep_raw_body
from conversations.vocabulary import PartType, RawClass, Role
from tests.console.conftest import NOW
from tests.conversations.drafts import assistant, call, results, user

SECRET = "my seat is 14C"
ARGUMENTS = '{"seat":"14C-argument"}'


@pytest.fixture
def told(make_conversation, say, answer):
    """A secret in the title, in a text, in arguments, in a result and in an error's words."""
    conversation = make_conversation(title="Seat 14C-title")
    asked = say(conversation, user(SECRET))
    answer(
        conversation,
        asked,
        MessageDraft(Role.ASSISTANT, [call("toolu_1", "book", ARGUMENTS)]),
        error_message="you sent 14C-error",
    )
    say(conversation, results("toolu_1"))
    say(conversation, assistant("Booked."))
    return conversation


def entries(**fields):
    found = AccessEntry.objects.filter(**fields).order_by("pk")
    return list(found.values_list("action", "target_kind", "target_id"))


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


ADDRESSES = {
    "": "read_conversations",
    "thread/?from=0&to=2": "read_conversations",
    "compare/?a=1&b=4": "read_conversations",
    "attempts/1/": "read_conversations",
    "messages/1/blocks/0/": "read_bodies",
    "messages/2/blocks/0/": "read_raw",
    "messages/2/blocks/0/file": "read_bodies",
    "messages/4/next-body/": "read_raw",
    "attempts/1/body": "read_raw",
}


@pytest.mark.parametrize("path", ADDRESSES)
def test_a_user_without_a_role_is_refused_everywhere_and_the_log_says_so(
    client, django_user_model, told, path
):
    client.force_login(django_user_model.objects.create_user("nobody", is_staff=True))

    response = client.get(f"/conversations/{told.pk}/{path}")

    assert response.status_code == 403
    assert "14C" not in response.content.decode()
    [entry] = AccessEntry.objects.all()
    assert (entry.action, entry.conversation_id) == ("refused", told.pk)


@pytest.mark.parametrize("path", ["open/", "close/", "notes/", "reveal/"])
def test_what_changes_something_is_refused_without_its_right(client, django_user_model, told, path):
    client.force_login(django_user_model.objects.create_user("nobody", is_staff=True))

    assert (
        client.post(f"/conversations/{told.pk}/{path}", {"ticket": "SUP-1", "text": "x"}).status_code == 403
    )
    assert client.get(f"/conversations/{told.pk}/{path}").status_code == 405
    assert not StatedReason.objects.exists()
    assert not ConversationNote.objects.exists()


@pytest.mark.parametrize("path", [path for path, right in ADDRESSES.items() if right == "read_raw"])
def test_raw_payloads_are_refused_to_support_even_with_a_reason(log_in, told, path):
    support = log_in(RoleName.SUPPORT)
    support.post(f"/conversations/{told.pk}/open/", {"ticket": "SUP-1"})

    response = support.get(f"/conversations/{told.pk}/{path}")

    assert response.status_code == 403
    assert entries(action="refused") != []


@pytest.mark.parametrize("path", ["messages/1/blocks/0/", "messages/2/blocks/0/", "messages/4/next-body/"])
def test_raw_payloads_stay_shut_to_an_auditor_without_a_reason(log_in, told, path):
    auditor = log_in(RoleName.AUDITOR)

    assert auditor.get(f"/conversations/{told.pk}/{path}").status_code == 403

    auditor.post(f"/conversations/{told.pk}/open/", {"ticket": "AUD-1"})
    assert auditor.get(f"/conversations/{told.pk}/{path}").status_code in (200, 409)


def test_a_conversation_of_another_realm_is_refused_and_one_that_is_not_there_is_not_found(log_in, told):
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    stranger = log_in(RoleName.PRIVACY_OFFICER, realms=[elsewhere])

    assert stranger.get(f"/conversations/{told.pk}/").status_code == 403
    assert stranger.get(f"/conversations/{told.pk}/messages/1/blocks/0/").status_code == 403
    assert stranger.get("/conversations/01a20dd4-a750-7f77-b9b6-ff1ddd41bb38/").status_code == 404
    assert {action for action, _, _ in entries()} == {"refused"}


def test_a_raw_part_is_shown_as_text_and_logged(log_in, told):
    auditor = log_in(RoleName.AUDITOR)
    auditor.post(f"/conversations/{told.pk}/open/", {"ticket": "AUD-1"})

    page = auditor.get(f"/conversations/{told.pk}/messages/2/blocks/0/").content.decode()

    assert "&quot;seat&quot;:&quot;14C-argument&quot;" in page
    assert entries(action="raw") == [("raw", "message", f"{told.pk}#2.0")]


def test_an_attachment_is_a_download_that_no_browser_shows(log_in, make_conversation, say):
    conversation = make_conversation()
    svg = "PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+"
    source = f'{{"type":"base64","media_type":"image/svg+xml","data":"{svg}"}}'
    image = PartDraft(PartType.IMAGE, payload=f'{{"type":"image","source":{source}}}'.encode())
    say(conversation, MessageDraft(Role.USER, [image]))
    support = log_in(RoleName.SUPPORT)
    assert support.get(f"/conversations/{conversation.pk}/messages/1/blocks/0/file").status_code == 403
    support.post(f"/conversations/{conversation.pk}/open/", {"ticket": "SUP-1"})

    page = support.get(f"/conversations/{conversation.pk}/").content.decode()
    response = support.get(f"/conversations/{conversation.pk}/messages/1/blocks/0/file")

    assert "<img" not in page
    assert "<bdi>image/svg+xml</bdi>, 21 bytes, not shown" in page
    assert response.content == b"<svg onload=alert(1)>"
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"] == 'attachment; filename="message-1-block-0.bin"'
    assert response["X-Content-Type-Options"] == "nosniff"
    assert entries(action="download") == [("download", "message", f"{conversation.pk}#1.0")]


def test_an_address_of_an_image_is_text_and_never_visited(log_in, make_conversation, say):
    conversation = make_conversation()
    payload = b'{"type":"image_url","image_url":{"url":"https://evil.example/x.png?c=1"}}'
    say(conversation, MessageDraft(Role.USER, [PartDraft(PartType.IMAGE, payload=payload)]))

    page = log_in(RoleName.PRIVACY_OFFICER).get(f"/conversations/{conversation.pk}/").content.decode()

    assert "it lies at <bdi>https://evil.example/x.png?c=1</bdi>" in page
    assert 'href="https://evil' not in page
    assert 'src="https' not in page


def test_what_was_quarantined_is_listed_and_its_bytes_are_for_who_may_see_raw(log_in, make_conversation, say):
    conversation = make_conversation()
    say(conversation, user())
    conversation.replay_obstacle = "received_broken"
    conversation.save(update_fields=["replay_obstacle"])
    raw_id = keep_raw_body(
        body=b"<b>broken",
        raw_class=RawClass.QUARANTINE,
        now=NOW,
        conversation_id=conversation.pk,
        place="export.json, item 2",
        trouble="a node without a role",
    )
    auditor = log_in(RoleName.AUDITOR)
    auditor.post(f"/conversations/{conversation.pk}/open/", {"ticket": "AUD-1"})

    page = auditor.get(f"/conversations/{conversation.pk}/").content.decode()
    response = auditor.get(f"/conversations/{conversation.pk}/raw/{raw_id}/")

    assert "Not replayable as it ran" in page
    assert "a node without a role" in page
    assert response.content == b"<b>broken"
    assert "attachment" in response["Content-Disposition"]
    assert log_in(RoleName.SUPPORT).get(f"/conversations/{conversation.pk}/raw/{raw_id}/").status_code == 403


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


def test_a_note_is_kept_with_its_ticket_and_read_by_who_may_read_texts(log_in, told):
    support = log_in(RoleName.SUPPORT)

    support.post(f"/conversations/{told.pk}/notes/", {"text": "Called <b>back</b>", "ticket": "SUP-9"})

    page = support.get(f"/conversations/{told.pk}/").content.decode()
    assert "Note withheld, 18 characters" in page
    support.post(f"/conversations/{told.pk}/open/", {"ticket": "SUP-9"})
    page = support.get(f"/conversations/{told.pk}/").content.decode()
    assert "Called &lt;b&gt;back&lt;/b&gt;" in page
    assert "Maja Lind, <bdi>SUP-9</bdi>" in page
    note = ConversationNote.objects.get()
    assert entries(action="change") == [("change", "conversation", f"note {note.pk}")]


def test_a_blank_note_is_not_kept(log_in, told):
    support = log_in(RoleName.SUPPORT)

    page = support.post(f"/conversations/{told.pk}/notes/", {"text": "  "}, follow=True).content.decode()

    assert "The note was not kept" in page
    assert not ConversationNote.objects.exists()
