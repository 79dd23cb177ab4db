"""An erasure from intake to receipt: one person goes from every store, others keep theirs."""

import json
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType

from access.actors import Actor, ActorKind
from access.models import AccessEntry, StatedReason
from conversations.drafts import MessageDraft, PartDraft
from conversations.errors import ConflictError
from conversations.models import Account, Blob, Conversation, ErasedSubject, MessagePart, RawBody
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message
from conversations.services.erased import ErasedError
from conversations.services.notes import write_note
from conversations.services.raw_bodies import keep_raw_body
from conversations.services.recording import record_exchange
from conversations.vocabulary import Dialect, PartType, RawClass, Role
from jobs.models import JobRun
from jobs.services.starting import start_job
from ledger.models import ToolEffect
from retention.archiving import archive_bytes
from retention.erasure.job import STEPS, erase
from retention.erasure.receipt import is_genuine
from retention.errors import TwoPeopleError
from retention.models import ErasureRequest, GenerationRollup
from retention.services.continuing import BEAT, CONTINUE, continue_erasures
from retention.services.erasing import (
    approve_erasure,
    check_identity,
    extend_term,
    find_accounts,
    prepare_preview,
    run_again,
    take_in,
    withdraw,
)
from retention.services.holds import approve_release, place_hold, request_release
from retention.vocabulary import IdentityCheck
from tests.conversations.schema.rows import execute, fetch, insert
from tests.retention.conftest import CUSTOMER, NOW, Talk, remaining

pytestmark = pytest.mark.django_db

NAME, EMAIL, CUSTOMER_ID = "Quirina Sample", "q.sample@example.org", "cust-88417"


@pytest.fixture
def person(make_account):
    return make_account(external_id=CUSTOMER_ID, label=NAME, email=EMAIL)


@pytest.fixture
def their_talk(person, make_talk):
    return make_talk(account_id=person.pk, words=f"I am {NAME}, write to {EMAIL}", title=f"{NAME}'s order")


@pytest.fixture
def desk(officer, second):
    """Take a request through to its end as two people do."""

    def run(*accounts, aliases=()):
        request = take_in(
            realm_id=accounts[0].realm_id,
            account_ids=[account.pk for account in accounts],
            aliases=aliases,
            received_at=NOW,
            now=NOW,
            user=officer,
        )
        check_identity(request_id=request.pk, how=IdentityCheck.SIGNED_IN, user=officer, now=NOW)
        prepare_preview(request_id=request.pk, user=officer, now=NOW)
        return work_on(approve_erasure(request_id=request.pk, user=second, now=NOW))

    return run


def work_on(run):
    done = erase(run_id=run.pk, clock=lambda: NOW)
    assert done.state == "succeeded", done.error
    return ErasureRequest.objects.get(pk=run.scope)


def states_of(request):
    return {step.name: step.state for step in request.steps.all()}


def test_a_person_is_gone_and_a_receipt_says_so(their_talk, person, desk, make_talk):
    other = make_talk()

    request = desk(person)

    assert request.state == "done"
    assert set(states_of(request).values()) == {"done"}
    assert remaining() == {other.id}
    assert not Account.objects.filter(pk=person.pk).exists()
    receipt = json.loads(request.receipt.body)
    assert receipt["erased"] == {
        "account": 1,
        "conversation": 1,
        "headmove": 1,
        "message": 1,
        "messagepart": 1,
    }
    assert is_genuine(request.receipt)


def test_the_receipt_names_nobody_and_the_request_no_longer_does(their_talk, person, desk):
    request = desk(person, aliases=["Mrs Q."])

    assert not any(name in request.receipt.body for name in (NAME, EMAIL, CUSTOMER_ID, str(person.pk)))
    assert set(request.identifiers.values_list("value", flat=True)) == {""}
    assert len(json.loads(request.receipt.body)["identifiers"]) == 4


def test_a_receipt_that_was_changed_is_not_genuine(their_talk, person, desk):
    receipt = desk(person).receipt
    receipt.body = receipt.body.replace('"account":1', '"account":2')

    assert not is_genuine(receipt)


def test_whoever_took_it_in_cannot_approve_it(their_talk, person, officer):
    request = take_in(
        realm_id=person.realm_id, account_ids=[person.pk], received_at=NOW, now=NOW, user=officer
    )
    check_identity(request_id=request.pk, how=IdentityCheck.DOCUMENT, user=officer, now=NOW)
    prepare_preview(request_id=request.pk, user=officer, now=NOW)

    with pytest.raises(TwoPeopleError):
        approve_erasure(request_id=request.pk, user=officer, now=NOW)

    assert remaining() == {their_talk.id}
    assert not JobRun.objects.exists()


def test_nothing_is_approved_before_it_was_previewed(their_talk, person, officer, second):
    request = take_in(
        realm_id=person.realm_id, account_ids=[person.pk], received_at=NOW, now=NOW, user=officer
    )

    with pytest.raises(ConflictError):
        approve_erasure(request_id=request.pk, user=second, now=NOW)

    assert ErasureRequest.objects.get().state == "intake"


@pytest.mark.parametrize("name", [EMAIL.upper(), CUSTOMER_ID])
def test_a_person_is_found_by_what_they_are_called(person, make_account, name):
    make_account()

    assert find_accounts(realm_id=person.realm_id, names=[name, "nobody"]) == [person]


def test_a_person_is_found_by_the_accounts_own_id(person, make_account):
    assert find_accounts(realm_id=person.realm_id, names=[str(person.pk)]) == [person]


def test_the_preview_has_three_groups(their_talk, person, bought, officer, make_talk):
    execute(
        "UPDATE conversations_conversation SET account_id = %s WHERE id = %s",
        person.pk,
        bought.conversation_id,
    )
    execute("UPDATE ledger_tooleffect SET account_id = %s", person.pk)
    request = take_in(
        realm_id=person.realm_id, account_ids=[person.pk], received_at=NOW, now=NOW, user=officer
    )
    check_identity(request_id=request.pk, how=IdentityCheck.SIGNED_IN, user=officer, now=NOW)

    preview = prepare_preview(request_id=request.pk, user=officer, now=NOW).preview

    rows = {row["store"]: (row["erased"], row["pseudonymised"], row["kept"]) for row in preview}
    assert rows["accounts"] == (0, 0, 1)
    assert rows["conversation"] == (1, 0, 1)
    assert rows["message"] == (1, 0, 2)
    assert rows["effects"] == (0, 1, 0)
    assert preview[0]["ground"] == f"An effect is open: {bought.pk}"


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
    assert everything_in_the_database(NAME, EMAIL, CUSTOMER_ID) == []


def everything_in_the_database(*names):
    """Look for the names in every row as PostgreSQL prints it: a search of our own, beside the product's."""
    tables = [
        row[0]
        for row in fetch(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
    ]
    return [
        (table, name)
        for table in tables
        for name in names
        if fetch(f'SELECT 1 FROM "{table}" t WHERE position(lower(%s) IN lower(t::text)) > 0 LIMIT 1', name)
    ]


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
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_what_is_found_again_is_named_and_no_receipt_is_written(their_talk, person, desk, make_talk):
    make_talk(words=f"My neighbour {NAME} has the same problem")

    request = desk(person)

    assert request.state == "partly_done"
    step = request.steps.get(name="searching")
    assert (step.state, step.cause) == ("skipped", "found again in conversations_messagepart.text")
    assert not hasattr(request, "receipt")
    assert MessagePart.objects.count() == 1


def test_what_is_held_stays_and_goes_when_the_hold_is_released(
    their_talk, person, desk, make_talk, officer, second
):
    free = make_talk(account_id=person.pk)
    hold = place_hold(conversation_id=their_talk.id, matter="M-8", user=officer, now=NOW)

    request = desk(person)
    assert free.id not in remaining()
    assert remaining() == {their_talk.id}
    assert (request.state, request.steps.get(name="conversations").cause) == ("partly_done", "Held: M-8")
    assert states_of(request)["searching"] == "skipped"

    request_release(hold_id=hold.pk, user=officer, now=NOW)
    approve_release(hold_id=hold.pk, user=second, now=NOW)
    request = work_on(
        run_again(request_id=request.pk, actor=Actor(ActorKind.STAFF, str(officer.pk)), now=NOW)
    )

    assert (request.state, remaining()) == ("done", set())
    assert json.loads(request.receipt.body)["erased"]["conversation"] == 2


def test_money_stays_without_the_person(bought, desk, make_account):
    person = Account.objects.get(pk=bought.account_id)
    execute(
        "INSERT INTO ledger_effectmove (effect_id, number, from_state, to_state, moved_at, moved_by_kind,"
        " source, evidence_ref) VALUES (%s, 2, 'pending', 'failed', now(), 'job', 'answer', 'ch_1')",
        bought.pk,
    )
    execute("UPDATE ledger_tooleffect SET state = 'failed', move = 2")

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


def test_an_erased_person_does_not_come_back_by_an_import(their_talk, person, desk, realm):
    desk(person)

    with pytest.raises(ErasedError):
        ensure_account(realm=realm, external_id=CUSTOMER_ID, now=NOW)

    assert set(ErasedSubject.objects.values_list("kind", flat=True)) == {
        "account",
        "conversation",
        "email",
        "external_id",
    }
    assert not Account.objects.filter(external_id=CUSTOMER_ID).exists()


def test_the_clock_is_extended_once_with_a_reason(person, officer):
    request = take_in(
        realm_id=person.realm_id, account_ids=[person.pk], received_at=NOW, now=NOW, user=officer
    )
    assert request.due_at == NOW + timedelta(days=30)

    extended = extend_term(request_id=request.pk, user=officer, now=NOW, note="many accounts")

    assert extended.due_at == NOW + timedelta(days=90)
    with pytest.raises(ConflictError):
        extend_term(request_id=request.pk, user=officer, now=NOW, note="more")


def test_a_withdrawn_request_forgets_the_names(person, officer):
    request = take_in(
        realm_id=person.realm_id, account_ids=[person.pk], received_at=NOW, now=NOW, user=officer
    )

    withdraw(request_id=request.pk, user=officer, now=NOW)

    assert set(request.identifiers.values_list("value", flat=True)) == {""}
    assert Account.objects.filter(pk=person.pk).exists()


def test_one_account_has_one_open_request(person, officer):
    given = {"realm_id": person.realm_id, "account_ids": [person.pk], "received_at": NOW, "now": NOW}
    first = take_in(**given, user=officer)

    with pytest.raises(ConflictError):
        take_in(**given, user=officer)

    assert (first.number, ErasureRequest.objects.count()) == ("ER-2026-0001", 1)


def test_a_step_that_fails_is_named_and_the_others_go_on(their_talk, person, desk, monkeypatch):
    def refuses(key):
        raise OSError("the disk quotes q.sample@example.org")

    place = [step.name for step in STEPS].index("leftovers")
    keep_blob_of(their_talk)
    monkeypatch.setattr(
        "retention.erasure.steps.leftovers.blob_storage", lambda: type("S", (), {"delete": refuses})
    )
    request = desk(person)

    step = request.steps.get(place=place)
    assert (request.state, step.state, step.cause) == ("partly_done", "failed", "OSError: try it again")
    assert remaining() == set()
    monkeypatch.undo()

    request = work_on(run_again(request_id=request.pk, actor=BEAT, now=NOW))
    assert request.state == "done"


def keep_blob_of(talk: Talk) -> None:
    part = PartDraft(type=PartType.DOCUMENT, payload=b"%PDF" + b"a" * 40_000)
    message = MessageDraft(role=Role.USER, parts=[part])
    append_message(conversation_id=talk.id, message=message, actor=CUSTOMER, now=NOW)


def test_every_act_of_the_desk_is_in_the_access_log(their_talk, person, desk):
    request = desk(person)

    lines = AccessEntry.objects.filter(target_kind="erasure").values_list("action", "target_id")
    assert list(lines) == [("change", request.number)] * 4
    assert not Conversation.objects.exists()


def test_a_request_goes_on_by_itself_when_nothing_is_held(their_talk, person, desk, officer, second):
    hold = place_hold(conversation_id=their_talk.id, matter="M-8", user=officer, now=NOW)
    request = desk(person)
    assert continued() == {"requests": {"held": 1}}
    request_release(hold_id=hold.pk, user=officer, now=NOW)
    approve_release(hold_id=hold.pk, user=second, now=NOW)

    assert continued() == {"requests": {"started": 1}}
    request = work_on(JobRun.objects.get(kind="retention.erase", state="queued"))

    assert request.state == "done"


def continued():
    run = start_job(kind=CONTINUE, requested_by=("job", "beat"), now=NOW)
    continue_erasures(run_id=run.pk, clock=lambda: NOW)
    return JobRun.objects.get(pk=run.pk).counts


def test_a_note_on_a_held_conversation_stays_with_it_and_others_go(
    their_talk, person, desk, make_talk, officer, second
):
    held = make_talk(account_id=person.pk)
    for talk in (their_talk, held):
        write_note(conversation_id=talk.id, author=officer, text=f"called {NAME}", now=NOW)
    hold = place_hold(conversation_id=held.id, matter="M-8", user=officer, now=NOW)

    request = desk(person)

    step = request.steps.get(name="words")
    assert (step.state, step.erased, step.kept) == ("skipped", {"notes": 1}, {"notes": 1})
    assert fetch("SELECT text FROM conversations_conversationnote") == [(f"called {NAME}",)]
    request_release(hold_id=hold.pk, user=officer, now=NOW)
    approve_release(hold_id=hold.pk, user=second, now=NOW)
    run = start_job(kind=CONTINUE, requested_by=("job", "test"), now=NOW)
    continue_erasures(run_id=run.pk, clock=lambda: NOW)
    work_on(JobRun.objects.get(kind="retention.erase", state="queued"))
    assert ErasureRequest.objects.get().state == "done"


def test_an_archive_goes_with_its_file(their_talk, person, desk, folder):
    archive(their_talk.id)

    request = desk(person)

    assert request.state == "done"
    assert [path for path in folder.rglob("*") if path.is_file()] == []
    assert json.loads(request.receipt.body)["erased"]["archive"] == 1


def test_a_name_inside_somebody_elses_archive_is_found(their_talk, person, desk, make_talk):
    other = make_talk(words=f"My neighbour is {NAME}")
    archive(other.id)

    request = desk(person)

    assert request.state == "partly_done"
    step = request.steps.get(name="searching")
    assert step.kept["an archive file"] == 1


def test_a_provider_file_named_in_an_archive_is_written_down(their_talk, person, desk):
    block = PartDraft(PartType.DOCUMENT, payload=b'{"source":{"file_id":"file-9abcdef"}}')
    message = MessageDraft(role=Role.USER, parts=[block])
    append_message(conversation_id=their_talk.id, message=message, actor=CUSTOMER, now=NOW)
    archive(their_talk.id)

    request = desk(person)

    copy = request.hosted_copies.get()
    assert (copy.kind, copy.reference, copy.state) == ("file", "file-9abcdef", "requested")


def test_a_name_that_only_the_patch_of_a_body_holds_is_found(person, desk, make_account):
    """The rendering differs from what was sent by a member that no row has: the patch quotes it."""
    other = make_account(external_id="other")
    body = json.dumps(
        {
            "model": "claude-sonnet-4-5",
            "max_tokens": 100,
            "messages": [
                {"role": "user", "content": "Where is order 1042? " * 40, "name": NAME},
                {"role": "user", "content": [{"type": "text", "text": "Please."}]},
            ],
        },
        indent=1,
    )
    record_exchange(
        account=other,
        request_body=body.encode(),
        response_body=None,
        dialect=Dialect.ANTHROPIC_MESSAGES,
        actor=CUSTOMER,
        now=NOW,
        exchange_id="x-1",
    )
    assert fetch("SELECT body_proof FROM conversations_generation") == [("patched",)]

    request = desk(person)

    assert request.steps.get(name="searching").kept["conversations_generation.body_patch"] == 1


def archive(conversation_id):
    archive_bytes(conversation_id=conversation_id, now=NOW)
