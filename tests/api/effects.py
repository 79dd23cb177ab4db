"""What tests of effects over HTTP start from: a registered tool, a recorded call, a processor's answer."""

import base64
import json
from typing import Any

from django.contrib.auth.models import User

from access.models import Realm
from conversations.models import Conversation
from conversations.services.accounts import ensure_account
from conversations.services.starting import start_conversation
from ledger.services.policies import save_policy
from tests.conversations.conftest import NOW
from tests.ledger.conftest import Talk

TOOL = {
    "effectful": "yes",
    "replay_policy": "ask",
    "key_scope": "branch_root",
    "operation": "charge",
    "processor": "stripe",
    "amount_path": "amount",
    "currency_path": "currency",
}


def register(realm: Realm, name: str = "charge_card", **given: Any) -> None:
    user = User.objects.get_or_create(username="registrar")[0]
    save_policy(realm=realm, name=name, user=user, now=NOW, **{**TOOL, **given})


def make_conversation(realm: Realm, external_id: str = "cus-1") -> Conversation:
    account = ensure_account(realm=realm, external_id=external_id, now=NOW)
    return start_conversation(account_id=account.pk, now=NOW)


def make_talk(realm: Realm, *call_ids: str, **given: Any) -> tuple[Talk, str]:
    """A conversation whose last message holds the calls; return it and that message's public id."""
    talk = Talk(make_conversation(realm))
    talk.says()
    seq = talk.calls(*(call_ids or ("toolu_1",)), **given)
    return talk, f"{talk.id}.m{seq}"


def intent(effect: str = "", **given: Any) -> dict[str, Any]:
    """A payment intent that took 19.00 USD, as Stripe answers it, cut to what is read."""
    return {
        "id": "pi_1",
        "object": "payment_intent",
        "status": "succeeded",
        "amount": 1900,
        "amount_received": 1900,
        "currency": "usd",
        "latest_charge": "ch_1",
        "created": 1_780_000_000,
        "metadata": {"counterfoil_effect": effect} if effect else {},
        **given,
    }


def response(body: Any, status: int = 200) -> dict[str, Any]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return {
        "response": {"http_status": status, "body": base64.b64encode(raw).decode(), "request_id": "req_1"}
    }
