"""What the tests of the console's pages share: staff of each role, and conversations worth looking at."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from access.actors import Actor, ActorKind
from access.models import Realm, StaffMember, StaffRealm
from access.rights import RoleName
from access.services.reasons import state_reason
from conversations.drafts import MessageDraft
from conversations.models import Account, Conversation
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message
from conversations.services.generations import Attempt, Outcome, begin_generation, finish_generation
from conversations.services.starting import start_conversation
from conversations.vocabulary import Dialect, GenerationStatus
from conversations.wire.shapes import Usage

NOW = datetime(2026, 3, 9, 14, 3, tzinfo=UTC)
CUSTOMER = Actor(ActorKind.CUSTOMER)
"""Times of a conversation run on by one second a message from here."""


@pytest.fixture
def realm(db: None) -> Realm:
    return Realm.objects.create(slug="wendelmere-eu", name="Wendelmere Travel", created_at=NOW)


@pytest.fixture
def make_staff(db: None) -> Callable[..., User]:
    """Make a member of staff of a role who sees the realms named, or every one."""

    def make(role: RoleName = RoleName.SUPPORT, *, realms: list[Realm] | None = None, name: str = "") -> User:
        user = User.objects.create_user(
            name or role.value, is_staff=True, first_name="Maja", last_name="Lind"
        )
        user.groups.add(Group.objects.get(name=role.value))
        member = StaffMember.objects.create(user=user, sees_all_realms=realms is None)
        StaffRealm.objects.bulk_create([StaffRealm(member=member, realm=realm) for realm in realms or []])
        return user

    return make


@pytest.fixture
def log_in(make_staff: Callable[..., User]) -> Callable[..., Client]:
    """Give a browser in which somebody of the role is logged in."""

    def logged_in(role: RoleName = RoleName.SUPPORT, **fields) -> Client:
        client = Client()
        client.force_login(make_staff(role, **fields))
        return client

    return logged_in


@pytest.fixture
def finance(log_in: Callable[..., Client]) -> Client:
    return log_in(RoleName.FINANCE)


@pytest.fixture
def account(realm: Realm) -> Account:
    return ensure_account(
        realm=realm, external_id="cus-1001", label="Inês Okafor", email="ines@example.com", now=NOW
    )


@pytest.fixture
def make_conversation(account: Account) -> Callable[..., Conversation]:
    def make(**fields) -> Conversation:
        return start_conversation(**{"account_id": account.pk, "now": NOW, "title": "Lisbon", **fields})

    return make


@pytest.fixture
def say() -> Callable[..., int]:
    """Append a message one second after the last one; return its number."""

    def append(conversation: Conversation, message: MessageDraft, **fields) -> int:
        seq = Conversation.objects.values_list("next_seq", flat=True).get(pk=conversation.pk)
        fields = {"actor": CUSTOMER, "now": NOW + timedelta(seconds=seq), **fields}
        return append_message(conversation_id=conversation.pk, message=message, **fields).seq

    return append


@pytest.fixture
def answer() -> Callable[..., int | None]:
    """Let a model answer below a message, with a price; return the answer's number."""

    def generate(
        conversation: Conversation, below: int, message: MessageDraft | None, **outcome
    ) -> int | None:
        now = NOW + timedelta(seconds=below + 1)
        request_id = outcome.pop("request_id", f"req-{below}")
        attempt = Attempt(
            request_id=request_id,
            provider="anthropic",
            dialect=DIALECT,
            requested_model="claude-sonnet-4-5",
            attempt=outcome.pop("attempt", 1),
        )
        begun, _ = begin_generation(conversation_id=conversation.pk, leaf_seq=below, attempt=attempt, now=now)
        usage = Usage(uncached_input=1_000, output=100, raw={"input_tokens": 1_000, "output_tokens": 100})
        ended = {"status": GenerationStatus.COMPLETE, "served_model": "claude-sonnet-4-5", "usage": usage}
        finished = finish_generation(
            conversation_id=conversation.pk,
            number=begun.number,
            outcome=Outcome(message=message, **{**ended, **outcome}),
            actor=CUSTOMER,
            now=now,
        )
        return finished.message_seq

    return generate


@pytest.fixture
def open_for() -> Callable[..., None]:
    """State a reason for somebody now, so that the conversation's texts are open."""

    def state(user: User, conversation: Conversation) -> None:
        state_reason(
            user=user,
            conversation_id=conversation.pk,
            ticket="SUP-48213",
            words="",
            now=datetime.now(UTC),
        )

    return state


DIALECT = Dialect.ANTHROPIC_MESSAGES
# What 1,000 tokens in and 100 out of claude-sonnet-4-5 cost.
COST = Decimal("0.0045")
