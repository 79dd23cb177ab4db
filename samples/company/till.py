"""The till of the sample company: which of its tools touch the world, and what each one may do again."""

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from access.models import Realm
from ledger.processors import STRIPE
from ledger.services.policies import save_policy
from samples.company import processor_ids as ids

_PAYS: dict[str, Any] = {
    "effectful": "yes",
    "replay_policy": "ask",
    "key_scope": "branch_root",
    "operation": "charge",
    "processor": STRIPE,
    "amount_path": "amount",
    "amount_unit": "major",
    "currency_path": "currency",
}
_LOOKS: dict[str, Any] = {"effectful": "no", "replay_policy": "free"}

POLICIES: dict[str, dict[str, Any]] = {
    "purchase_credits": _PAYS,
    "change_fare": {**_PAYS, "amount_path": "", "currency_path": "", "replay_policy": "never"},
    "book_hotel": _PAYS,
    "book_rail": _PAYS,
    # As the company had it until two gift cards went out for one: a key for each call, and no question.
    "send_gift_card": {**_PAYS, "key_scope": "call", "replay_policy": "free"},
    "refund_charge": {**_PAYS, "operation": "refund", "amount_path": "", "currency_path": ""},
    "rebook_flight": {
        "effectful": "by_rule",
        "rule": [{"path": "seat", "is": "present"}],
        "replay_policy": "ask",
        "operation": "other",
        "processor": "reservations",
    },
    "find_booking": _LOOKS,
    "get_booking": _LOOKS,
    "get_fare_rules": _LOOKS,
    "quote_upgrade": _LOOKS,
    "search_trips": {**_LOOKS, "replay_policy": "metered"},
    "get_weather": {**_LOOKS, "replay_policy": "metered"},
}

# What the fare system charged: its tool's arguments name no amount.
FARES = {ids.INES_FARE_INTENT: (6200, "eur"), ids.DANA_CHARGE: (7699, "usd"), ids.DANA_REFUND: (7699, "usd")}


def register_tools(*, user: User, now: datetime) -> None:
    """Put every tool into the registry of every realm."""
    for realm in Realm.objects.order_by("id"):
        for name, values in POLICIES.items():
            save_policy(realm=realm, name=name, user=user, now=now, **values)
