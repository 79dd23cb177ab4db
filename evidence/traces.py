"""Traces of one person in every store that can hold words: what the proof of erasure has to find gone."""

from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction

from access.actors import Actor, ActorKind
from access.models import ApiKey, Realm, StatedReason, StoredAnswer
from conversations.drafts import MessageDraft, PartDraft
from conversations.ids import mint_id
from conversations.models import Account, Generation
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message
from conversations.services.deriving import write_summary
from conversations.services.notes import write_note
from conversations.services.raw_bodies import keep_raw_body
from conversations.services.recording import record_exchange
from conversations.services.starting import start_conversation
from conversations.vocabulary import Dialect, PartType, RawClass, Role
from jobs.services.starting import start_job
from retention.archiving import archive_bytes

NAME, EMAIL, CUSTOMER_ID, ALIAS = "Quirína Sample", "q.sample@example.org", "cust-88417", "the_quirina"
NAMES = (NAME, EMAIL, CUSTOMER_ID, ALIAS)
WHO = f"{NAME} <{EMAIL}>, {CUSTOMER_ID}, also {ALIAS}"
CUSTOMER = Actor(ActorKind.CUSTOMER)
AGENT = Actor(ActorKind.APPLICATION, "agent")


def leave_traces(*, now: datetime) -> Account:
    """Write the person into every store; return the account."""
    realm = Realm.objects.order_by("pk")[0]
    person = ensure_account(realm=realm, external_id=CUSTOMER_ID, label=NAME, email=EMAIL, now=now)
    staff = User.objects.create_user("evidence-staff")
    talk = start_conversation(account_id=person.pk, title=f"For {WHO}", external_ref=f"crm:{EMAIL}", now=now)
    _say(talk.pk, now)
    _archive(person, now)
    _record(person, now)
    _write_beside(person, talk.pk, staff, now)
    return person


def _say(talk: UUID, now: datetime) -> None:
    question = MessageDraft(
        role=Role.USER,
        parts=[
            PartDraft(type=PartType.TEXT, text=f"I am {WHO}"),
            PartDraft(type=PartType.DOCUMENT, payload=b"%PDF" + WHO.encode() * 1000),
        ],
        client_message_id=f"from-{ALIAS}-in-{talk}",
    )
    append_message(conversation_id=talk, message=question, actor=CUSTOMER, now=now)
    arguments = f'{{"email": "{EMAIL}", "name": "{NAME}"}}'
    called = f'{{"type":"tool_use","id":"call_9","name":"find","input":{arguments}}}'
    call = PartDraft(type=PartType.TOOL_USE, payload=called.encode(), tool_call_id="call_9", tool_name="find")
    asked = append_message(
        conversation_id=talk,
        message=MessageDraft(role=Role.ASSISTANT, parts=[call]),
        actor=AGENT,
        now=now + timedelta(seconds=1),
    )
    write_summary(
        conversation_id=talk,
        from_seq=1,
        to_seq=asked.seq,
        text=f"{NAME} asks",
        prompt_version="v1",
        now=now + timedelta(seconds=2),
    )


def _archive(person: Account, now: datetime) -> None:
    """A conversation whose bytes lie in a file, compressed; with a second name, for the search inside it."""
    cold = start_conversation(account_id=person.pk, title=f"Cold, of {NAME}", now=now)
    _say(cold.pk, now)
    with transaction.atomic():
        archive_bytes(conversation_id=cold.pk, now=now)


def _record(person: Account, now: datetime) -> None:
    """A recorded call whose body is kept as it was, and an attempt that failed with words."""
    record_exchange(
        account=person,
        request_body=f"no conversation at all: {WHO}".encode(),
        response_body=None,
        dialect=Dialect.ANTHROPIC_MESSAGES,
        actor=AGENT,
        now=now,
        exchange_id=f"exchange-of-{ALIAS}",
    )
    Generation.objects.filter(conversation__account=person).update(error_message=f"no such user {EMAIL}")


def _write_beside(person: Account, talk: UUID, staff: User, now: datetime) -> None:
    write_note(conversation_id=talk, author=staff, text=f"called {NAME}", now=now)
    StatedReason.objects.create(
        id=mint_id(now),
        user=staff,
        conversation_id=talk,
        ticket="T-1",
        words=f"{EMAIL} wrote",
        stated_at=now,
        valid_until=now,
    )
    LogEntry.objects.create(
        user=staff,
        content_type=ContentType.objects.get_for_model(Account),
        object_id=str(person.pk),
        object_repr=CUSTOMER_ID,
        action_flag=CHANGE,
        change_message=f"Changed e-mail to {EMAIL}",
    )
    start_job(
        kind="evidence", requested_by=("staff", "1"), reason=f"for {NAME}", parameters={"to": EMAIL}, now=now
    )
    for raw_class in (RawClass.WEBHOOK, RawClass.STATEMENT_LINE, RawClass.IMPORT):
        keep_raw_body(body=f'{{"who": "{WHO}"}}'.encode(), raw_class=raw_class, now=now)
    keep_raw_body(body=WHO.encode(), raw_class=RawClass.QUARANTINE, account_id=person.pk, now=now)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO axes_accessattempt (user_agent, ip_address, username, http_accept, path_info,"
            " attempt_time, get_data, post_data, failures_since_start)"
            " VALUES ('', NULL, %s, '', '/', now(), '', '', 1)",
            [EMAIL],
        )
    _be_answered(person, staff, now)


def _be_answered(person: Account, staff: User, now: datetime) -> None:
    """What the API keeps for callers that ask twice: an answer about the account, and one that names it."""
    key = ApiKey.objects.create(
        realm_id=person.realm_id,
        application="evidence",
        hint="cfk_",
        secret_digest=b"\0" * 32,
        scopes=["read"],
        created_at=now,
        created_by_id=str(staff.pk),
    )
    for account_id, asked in ((person.pk, "about"), (None, f"names-{ALIAS}")):
        StoredAnswer.objects.create(
            api_key=key,
            idempotency_key=asked,
            request_digest=b"\0" * 32,
            claimed_at=now,
            answered_at=now,
            status=200,
            headers={"Location": f"/accounts/{CUSTOMER_ID}"},
            body=f'{{"who": "{WHO}"}}'.encode(),
            account_id=account_id,
        )
