"""One person goes from every store, and nobody else does."""

import json

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType

from access.models import StatedReason
from conversations.drafts import MessageDraft, PartDraft
from conversations.models import Account, Blob, RawBody
from conversations.services.appending import append_message
from conversations.services.notes import write_note
from conversations.services.raw_bodies import keep_raw_body
from conversations.vocabulary import PartType, RawClass, Role
from jobs.models import JobRun
from jobs.services.starting import start_job
from ledger.models import ToolEffect
from retention.archiving import archive_bytes
from retention.models import GenerationRollup
from tests.conversations.schema.rows import execute, insert
from tests.retention.conftest import CUSTOMER, NOW, fail
from tests.retention.erasure.conftest import CUSTOMER_ID, EMAIL, NAME, states_of
from tests.retention.stores import everywhere, files_in

pytestmark = pytest.mark.django_db


def test_words_go_from_every_place_that_no_cascade_reaches(their_talk, person, officer, desk, make_talk):
    """Each of these names the person; the rows stay, with actor and time."""
    other = make_talk()
    write_note(conversation_id=other.id, author=officer, text=f"same as {EMAIL}", now=NOW)
    StatedReason.objects.create(
        id=other.id,
        user=officer,
        conversation_id=their_talk.id,
        ticket="T-1",
        words=f"{NAME} called",
        stated_at=NOW,
        valid_until=NOW,
    )
    LogEntry.objects.create(
        user=officer,
        content_type=ContentType.objects.get_for_model(Account),
        object_id=str(person.pk),
        object_repr=CUSTOMER_ID,
        action_flag=2,
        change_message=f"Changed e-mail to {EMAIL}",
    )
    execute(
        "INSERT INTO axes_accessattempt (user_agent, ip_address, username, http_accept, path_info,"
        " attempt_time, get_data, post_data, failures_since_start)"
        " VALUES ('', NULL, %s, '', '/', now(), '', '', 1)",
        EMAIL,
    )
    start_job(
        kind="imports", requested_by=("staff", "1"), now=NOW, reason=f"for {NAME}", parameters={"to": EMAIL}
    )
    keep_raw_body(body=f'{{"email":"{EMAIL}"}}'.encode(), raw_class=RawClass.WEBHOOK, now=NOW)
    kept = keep_raw_body(body=b'{"email":"other@example.org"}', raw_class=RawClass.WEBHOOK, now=NOW)
    insert(
        "generation",
        conversation_id=their_talk.id,
        number=1,
        status="failed",
        finished_at=NOW,
        error_message=f"no such user {EMAIL}",
    )

    request = desk(person)

    assert request.state == "done", states_of(request)
    assert StatedReason.objects.get().words == ""
    entry = LogEntry.objects.get()
    assert (entry.object_repr, entry.change_message, entry.user) == ("", "", officer)
    job = JobRun.objects.get(kind="imports")
    assert (job.reason, job.parameters) == ("", {})
    assert list(RawBody.objects.values_list("pk", flat=True)) == [kept]
    assert GenerationRollup.objects.get().failed == 1
    assert everywhere(NAME, EMAIL, CUSTOMER_ID) == []


def test_large_payloads_and_their_files_go(their_talk, person, desk, folder):
    part = PartDraft(type=PartType.DOCUMENT, payload=b"%PDF" + EMAIL.encode() * 4000)
    append_message(
        conversation_id=their_talk.id,
        message=MessageDraft(role=Role.USER, parts=[part]),
        actor=CUSTOMER,
        now=NOW,
    )
    assert Blob.objects.count() == 1

    desk(person)

    assert Blob.objects.count() == 0
    assert files_in(folder) == []


def test_money_stays_without_the_person(bought, desk, make_account):
    person = Account.objects.get(pk=bought.account_id)
    fail(bought)

    request = desk(person)

    effect = ToolEffect.objects.get()
    assert request.state == "done"
    assert (effect.account_id, effect.account_pseudonym) == (None, request.pseudonym)
    assert (effect.amount_minor, effect.currency, effect.call_seq) == (1900, "usd", None)


def test_copies_at_providers_are_requested_and_unconfirmed(their_talk, person, desk):
    insert(
        "generation",
        conversation_id=their_talk.id,
        number=1,
        provider="openai",
        status="complete",
        finished_at=NOW,
        provider_response_id="resp_1",
        hosted_conversation_id="conv_1",
    )

    request = desk(person)

    assert request.state == "done"
    assert states_of(request)["hosted"] == "requested"
    copies = request.hosted_copies.order_by("kind").values_list("kind", "reference", "state")
    assert list(copies) == [("conversation", "conv_1", "requested"), ("response", "resp_1", "requested")]
    assert json.loads(request.receipt.body)["hosted_copies"] == {"requested": 2, "confirmed": 0}


def test_an_archive_goes_with_its_file(their_talk, person, desk, folder):
    archive_bytes(conversation_id=their_talk.id, now=NOW)

    request = desk(person)

    assert request.state == "done"
    assert files_in(folder) == []
    assert json.loads(request.receipt.body)["erased"]["archive"] == 1


def test_a_provider_file_named_in_an_archive_is_written_down(their_talk, person, desk):
    block = PartDraft(PartType.DOCUMENT, payload=b'{"source":{"file_id":"file-9abcdef"}}')
    message = MessageDraft(role=Role.USER, parts=[block])
    append_message(conversation_id=their_talk.id, message=message, actor=CUSTOMER, now=NOW)
    archive_bytes(conversation_id=their_talk.id, now=NOW)

    request = desk(person)

    copy = request.hosted_copies.get()
    assert (copy.kind, copy.reference, copy.state) == ("file", "file-9abcdef", "requested")
