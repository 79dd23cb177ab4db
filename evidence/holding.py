"""What the proof of holds tells and compares: conversations with a charge, holds of three kinds, digests."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection

from access.actors import Actor, ActorKind
from access.models import Realm
from conversations.drafts import MessageDraft, PartDraft
from conversations.errors import NotFoundError
from conversations.models import Account
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message
from conversations.services.starting import start_conversation
from conversations.vocabulary import PartType, Role
from ledger.services.beginning import begin_effect
from ledger.services.policies import save_policy
from ledger.services.settling import settle_absent
from retention.models import LegalHold
from retention.services.holds import approve_release, place_hold, request_release

START = datetime(2026, 3, 9, 14, 3, tzinfo=UTC)
CUSTOMER = Actor(ActorKind.CUSTOMER)
AGENT = Actor(ActorKind.APPLICATION, "agent")
ACCOUNTS = 12
CALL = b'{"type":"tool_use","id":"call_0","name":"buy_plan","input":{"amount":1900,"currency":"usd"}}'


@dataclass(frozen=True, slots=True)
class Told:
    account_id: UUID
    conversation_id: UUID
    effect_id: UUID


@dataclass(frozen=True, slots=True)
class Held:
    kind: str
    conversations: frozenset[UUID]


def make_place() -> Realm:
    """A realm with a tool that charges: its effects can be held."""
    realm = Realm.objects.create(slug="holds", name="Holds", created_at=START)
    save_policy(
        realm=realm,
        name="buy_plan",
        user=User.objects.create_user("registrar"),
        now=START,
        effectful="yes",
        replay_policy="ask",
        key_scope="branch_root",
        operation="charge",
        processor="stripe",
        amount_path="amount",
        currency_path="currency",
    )
    return realm


def tell(realm: Realm, rng: random.Random, *, conversations: int) -> list[Told]:
    """Conversations that are due, each with a charge that was never sent, over a few accounts."""
    batch = rng.randrange(10**12)
    accounts = [
        ensure_account(realm=realm, external_id=f"{batch}-{number}", now=START) for number in range(ACCOUNTS)
    ]
    return [_tell_one(rng.choice(accounts)) for _ in range(conversations)]


def _tell_one(account: Account) -> Told:
    talk = start_conversation(account_id=account.pk, now=START)
    question = MessageDraft(role=Role.USER, parts=[PartDraft(type=PartType.TEXT, text="Buy plan A")])
    append_message(conversation_id=talk.pk, message=question, actor=CUSTOMER, now=START)
    call = PartDraft(type=PartType.TOOL_USE, payload=CALL, tool_call_id="call_0", tool_name="buy_plan")
    answer = MessageDraft(role=Role.ASSISTANT, parts=[call])
    seq = append_message(conversation_id=talk.pk, message=answer, actor=AGENT, now=START).seq
    begun = begin_effect(conversation_id=talk.pk, seq=seq, call_id="call_0", actor=AGENT, now=START)
    if begun.effect is None:
        raise LookupError("the guard let no effect begin")
    settle_absent(effect_id=begun.effect.pk, sent_at=None, actor=AGENT, now=START)
    return Told(account.pk, talk.pk, begun.effect.pk)


def hold(one: Told, *, rng: random.Random, user: User, now: datetime, among: Sequence[Told]) -> Held | None:
    """Place a hold of some kind; None where it was told that there is nothing left to hold.

    An account is there even when its conversations have gone: what counts is what the account
    had when the hold was committed, which nobody may take from then on.
    """
    kind = rng.choice(("account", "conversation", "effect"))
    try:
        if kind == "account":
            place_hold(account_id=one.account_id, matter="race", user=user, now=now)
            theirs = [told.conversation_id for told in among if told.account_id == one.account_id]
            return Held(kind, frozenset(digests(theirs)))
        if kind == "conversation":
            place_hold(conversation_id=one.conversation_id, matter="race", user=user, now=now)
            return Held(kind, frozenset({one.conversation_id}))
        place_hold(effect_id=one.effect_id, matter="race", user=user, now=now)
        return Held(kind, frozenset(digests([one.conversation_id])))
    except NotFoundError:
        return None


_DIGESTS = """
SELECT c.id, md5(c.id::text
    || coalesce((SELECT string_agg(m::text, '|' ORDER BY m.seq) FROM conversations_message m
        WHERE m.conversation_id = c.id), '')
    || coalesce((SELECT string_agg(p::text, '|' ORDER BY p.seq, p.ordinal) FROM conversations_messagepart p
        WHERE p.conversation_id = c.id), '')
    || coalesce((SELECT string_agg(h::text, '|' ORDER BY h.number) FROM conversations_headmove h
        WHERE h.conversation_id = c.id), '')
    || coalesce((SELECT string_agg(e.id::text || coalesce(e.call_seq, 0), '|' ORDER BY e.id)
        FROM ledger_tooleffect e WHERE e.conversation_id = c.id), ''))
FROM conversations_conversation c WHERE c.id = ANY(%s)
"""


def digests(conversation_ids: Sequence[UUID]) -> dict[UUID, str]:
    """Return a digest over the rows of each conversation that is still there."""
    with connection.cursor() as cursor:
        cursor.execute(_DIGESTS, [list(conversation_ids)])
        return dict(cursor.fetchall())


def release_all(*, asking: User, now: datetime) -> None:
    """End every open hold as two people do; what they held is due for the next purge."""
    approving, _ = User.objects.get_or_create(username="approver")
    for open_hold in LegalHold.objects.filter(released_at=None):
        request_release(hold_id=open_hold.pk, user=asking, now=now)
        approve_release(hold_id=open_hold.pk, user=approving, now=now)
