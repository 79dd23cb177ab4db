"""Raw parts, attachments and quarantined bytes: shown as text, logged, never visited."""

from access.rights import RoleName
from conversations.drafts import MessageDraft, PartDraft
from conversations.services.raw_bodies import keep_raw_body
from conversations.vocabulary import PartType, RawClass, Role
from tests.console.conftest import NOW
from tests.console.conversation.conftest import entries
from tests.conversations.drafts import user


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
