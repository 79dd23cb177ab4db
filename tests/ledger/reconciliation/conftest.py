"""What tests of the reconciliation share: charges in the ledger, lines at the processor, and a run."""

import io
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest

from access.actors import Actor, ActorKind
from ledger.evidence import EFFECT_METADATA, RefundSeen
from ledger.models import ReconciliationRun, Statement, ToolEffect
from ledger.reconciliation.running import reconcile
from ledger.reconciliation.starting import Asked, start_reconciliation
from ledger.services.refunds import take_refund
from ledger.services.sending import mark_sent
from ledger.services.settling import settle_effect
from ledger.statements.importing import Told, import_statement
from tests.conversations.conftest import NOW
from tests.ledger.conftest import (
    Talk,
    account,
    charge_card,
    conversation,
    give_back,
    make_account,
    make_conversation,
    realm,
    register,
    staff,
    talk,
)
from tests.ledger.seen import AGENT, charged, refunded

__all__ = [
    "account",
    "charge_card",
    "conversation",
    "give_back",
    "make_account",
    "make_conversation",
    "realm",
    "register",
    "staff",
    "talk",
]

FINANCE = Actor(ActorKind.STAFF, "7")
DAY = timedelta(days=1)
SINCE, UNTIL = NOW - 8 * DAY, NOW + DAY
# So long after the period that nothing of it waits any more.
CUT_OFF = NOW + 5 * DAY
COLUMNS = (
    "kind",
    "reference",
    "currency",
    "occurred_at",
    "amount_minor",
    "charge_ref",
    "status",
    EFFECT_METADATA,
)


def line(
    kind: str, reference: str, amount: int, *, currency: str = "usd", at: datetime = NOW, **more: Any
) -> dict[str, Any]:
    """One line of a plain statement."""
    effect = more.pop("effect", None)
    return {
        "kind": kind,
        "reference": reference,
        "amount_minor": amount,
        "currency": currency,
        "occurred_at": at.isoformat(),
        EFFECT_METADATA: effect.pk if effect else "",
        **more,
    }


@pytest.fixture
def statement(realm: Any) -> Callable[..., Statement]:
    """Import lines as a plain statement that covers the period."""

    def make(*lines: dict[str, Any], **told: Any) -> Statement:
        rows = [",".join(COLUMNS)]
        rows += [",".join(str(one.get(name, "")) for name in COLUMNS) for one in lines]
        rows.append(f"other,txn_{len(lines)},usd,{NOW.isoformat()},0,,,")
        given = {
            "period_start": SINCE,
            "period_end": UNTIL,
            "processor": "stripe",
            "name": "march.csv",
            **told,
        }
        imported = import_statement(
            realm=realm,
            file=io.BytesIO("\n".join(rows).encode()),
            told=Told(**given),
            actor=FINANCE,
            now=NOW + DAY,
        )
        return imported.statement

    return make


@pytest.fixture
def run(realm: Any) -> Callable[..., ReconciliationRun]:
    """Reconcile with these statements, to the end."""
    ticks = count()

    def make(*statements: Statement, **given: Any) -> ReconciliationRun:
        lines_at_once = given.pop("lines_at_once", 2000)
        cut_off = given.pop("cut_off", CUT_OFF)
        now = given.pop("now", max(cut_off, CUT_OFF)) + timedelta(minutes=next(ticks))
        period = {} if statements else {"since": SINCE, "until": UNTIL}
        asked = Asked(
            realm=realm,
            processor="stripe",
            statement_ids=[statement.pk for statement in statements],
            cut_off=cut_off,
            **{**period, **given},
        )
        asked_for = start_reconciliation(asked=asked, actor=FINANCE, now=now)
        job = reconcile(run_id=asked_for.job_id, clock=lambda: now, lines_at_once=lines_at_once)
        assert job is not None
        assert (job.state, job.error) == ("succeeded", "")
        asked_for.refresh_from_db()
        return asked_for

    return make


@pytest.fixture
def begins(make_conversation: Any, charge_card: Any) -> Callable[..., ToolEffect]:
    """An effect that was sent and has no answer, in a conversation of its own."""
    numbers = count(1)

    def make(
        *, amount: int = 1900, currency: str = "usd", talk: Talk | None = None, **given: Any
    ) -> ToolEffect:
        story = talk or Talk(make_conversation())
        call_id = f"toolu_{next(numbers)}"
        if "below" not in given:
            given["below"] = story.says()
        order = next(numbers)
        arguments = json.dumps({"order": order, "amount": amount, "currency": currency})
        seq = story.calls(call_id, arguments=given.pop("arguments", arguments), below=given.pop("below"))
        begun = story.begins(seq, call_id, **given)
        assert begun.effect is not None
        mark_sent(effect_id=begun.effect.pk, now=NOW)
        return begun.effect

    return make


@pytest.fixture
def pays(begins: Callable[..., ToolEffect]) -> Callable[..., ToolEffect]:
    """A charge that the ledger has as applied."""

    def make(charge: str = "ch_1", *, amount: int = 1900, currency: str = "usd", **given: Any) -> ToolEffect:
        settled_at = given.pop("at", NOW)
        known_at = given.pop("known_at", NOW)
        effect = begins(amount=amount, currency=currency, **given)
        seen = charged(
            charge,
            intent=f"pi_{charge}",
            amount_minor=amount,
            currency=currency,
            occurred_at=settled_at,
            effect_id=effect.pk,
        )
        return settle_effect(effect_id=effect.pk, seen=seen, actor=AGENT, now=known_at).effect

    return make


def found(run: ReconciliationRun) -> list[tuple[str, str, int | None]]:
    """What a run found: kind, the processor's id, amount."""
    return list(run.sightings.order_by("kind", "reference").values_list("kind", "reference", "amount_minor"))


def tied(run: ReconciliationRun) -> dict[str, tuple[int, int, int, int]]:
    """The tie-out by currency: ledger, processor, explained, unexplained."""
    lines = json.loads(run.report)["tie_out"]
    return {
        one["currency"]: (one["ledger"], one["processor"], one["explained"], one["unexplained"])
        for one in lines
    }


def give(effect, refund="re_1", amount=500, **given) -> None:
    seen: RefundSeen = refunded(refund, charge=effect.external_ref, amount_minor=amount, **given)
    take_refund(effect_id=effect.pk, seen=seen, actor=AGENT, now=NOW)
