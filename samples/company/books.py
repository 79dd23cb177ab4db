"""The sandbox processor's books as the sample company's ledger has them: the same ids, amounts and times.

So that whatever asks the processor in a demo (sweeping, refunding, reconciling) gets answers that fit.
What the ledger has no answer for stands there as waiting for the customer's bank: sent, answer unknown.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ledger.models import Compensation, Dispute, ToolEffect
from ledger.processors import STRIPE
from ledger.vocabulary import CompensationState, EffectState, Operation, ReferenceKind
from samples.company.receipts import marks
from samples.processor import disputes, intents, refunds
from samples.processor.call import Call
from samples.processor.errors import ApiError
from samples.processor.ids import mint
from samples.processor.storage import Store

type Entry = tuple[datetime, Callable[[Store, int], None]]

_CARDS = {
    EffectState.PENDING: "pm_card_authenticationRequired",
    EffectState.FAILED: "pm_card_visa_chargeDeclined",
}


class Books(NamedTuple):
    """How many movements stand in the books, and how many could not: the ledger has no charge of theirs."""

    written: int
    left_out: int


def write_books(path: Path) -> Books:
    """Write books into a new file. What the processor would refuse to know is left out of them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    store = Store(path)
    left_out = 0
    entries = sorted(_entries(), key=lambda entry: entry[0])
    try:
        for at, enter in entries:
            try:
                with store.transaction():
                    enter(store, int(at.timestamp()))
            except ApiError:
                left_out += 1
    finally:
        store.close()
    return Books(len(entries) - left_out, left_out)


def _entries() -> Iterator[Entry]:
    charges = ToolEffect.objects.filter(processor=STRIPE, operation=Operation.CHARGE)
    for effect in charges.exclude(sent_at=None).exclude(amount_minor=None, amount_settled_minor=None):
        yield effect.settled_at or effect.sent_at or effect.requested_at, _charge(effect)
    for compensation in Compensation.objects.filter(effect__in=charges).exclude(external_ref=""):
        went_at = compensation.settled_at or compensation.sent_at or compensation.requested_at
        yield went_at, _refund(compensation)
        if compensation.state == CompensationState.FAILED and compensation.failed_at is not None:
            yield compensation.failed_at, _failure(compensation)
    for dispute in Dispute.objects.filter(effect__in=charges):
        yield dispute.opened_at, _dispute(dispute)


def _charge(effect: ToolEffect) -> Callable[[Store, int], None]:
    known = dict(effect.references.values_list("kind", "reference"))
    intent = known.get(ReferenceKind.INTENT) or str(effect.find_by.get("payment_intent", ""))

    def enter(store: Store, now: int) -> None:
        call = Call(
            store=store,
            now=now,
            values={
                "amount": effect.amount_settled_minor or effect.amount_minor,
                "currency": effect.currency,
                "metadata": marks(effect),
                "payment_method": _CARDS.get(EffectState(effect.state), "pm_card_visa"),
                "confirm": True,
            },
            request_id=mint("req_", 14),
            key=effect.idempotency_key,
            given={"payment_intent": intent, "charge": known.get(ReferenceKind.CHARGE, "")},
        )
        # A declined card refuses, and leaves its intent and its charge in the books.
        with suppress(ApiError):
            intents.create_intent(call)

    return enter


def _refund(compensation: Compensation) -> Callable[[Store, int], None]:
    def enter(store: Store, now: int) -> None:
        charge = compensation.effect.external_ref
        values = {"charge": charge, "amount": compensation.amount_minor}
        given = {"refund": compensation.external_ref}
        refunds.create_refund(Call(store=store, now=now, values=values, given=given))

    return enter


def _failure(compensation: Compensation) -> Callable[[Store, int], None]:
    return lambda store, now: _ignore(
        refunds.fail_refund(Call(store=store, now=now), compensation.external_ref)
    )


def _dispute(dispute: Dispute) -> Callable[[Store, int], None]:
    return lambda store, now: _ignore(
        disputes.open_dispute(
            Call(store=store, now=now, given={"dispute": dispute.external_ref}),
            dispute.charge_ref,
            amount=dispute.amount_minor,
            reason=dispute.reason or "general",
        )
    )


def _ignore(answer: object) -> None:
    """What the API would answer with is nobody's here."""
