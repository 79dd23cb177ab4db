"""Planted in a month: one of every difference, each with what a run must find: its kind and subject.

A mend changes what the processor shows, and names the finding that must be gone then.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from access.actors import Actor, ActorKind
from evidence.decoys import DECOYS
from evidence.plants import Mend, Plants
from evidence.told import Told
from ledger.evidence import RefundSeen
from ledger.models import ToolEffect
from ledger.services.refunds import take_refund
from ledger.services.settling import settle_absent
from ledger.vocabulary import EffectState, EvidenceSource

SWEEPER = Actor(ActorKind.JOB, "planted")


def abandoned(plants: Plants) -> None:
    told = plants.month.charge()
    plants.month.fork(told, charges_again=False)
    plants.expect("abandoned", told.id, lambda now: _refund_in_full(plants, told, now))


def _refund_in_full(plants: Plants, told: Told, now: datetime) -> None:
    """Somebody refunds it in the processor's dashboard, and a webhook tells of it."""
    at = now - timedelta(hours=36)
    seen = RefundSeen(
        processor="stripe",
        source=EvidenceSource.WEBHOOK,
        reference=f"re_mended_{told.id.hex}",
        status="succeeded",
        currency=told.currency,
        amount_minor=told.settled,
        occurred_at=at,
        charge_ref=told.charge,
        outcome=EffectState.APPLIED,
        is_release=False,
    )
    take_refund(effect_id=told.id, seen=seen, actor=SWEEPER, now=at)
    plants.month.line("refund", seen.reference, -told.settled, told, at=at)


def duplicate(plants: Plants) -> None:
    told = plants.month.charge()
    again = plants.month.fork(told, charges_again=True)
    plants.expect("abandoned", told.id)
    if again is not None:
        plants.expect("duplicate", again.id)


def stale_pending(plants: Plants) -> None:
    told = plants.month.begin(amount=plants.odd_amount() + 1)

    def mend(now: datetime) -> None:
        sent_at = ToolEffect.objects.get(pk=told.id).sent_at
        settle_absent(effect_id=told.id, sent_at=sent_at, actor=SWEEPER, now=now - timedelta(hours=1))

    plants.expect("stale_pending", told.id, mend)


def missing_in_ledger(plants: Plants) -> None:
    told = plants.unwritten()
    plants.month.show(told)
    mend = plants.drop(told.charge, "charge")
    plants.expect("missing_in_ledger", f"charge:{told.charge}", mend)


def suggested(plants: Plants) -> None:
    """A charge that fits an effect without an answer, and nothing else leads to it."""
    amount = plants.odd_amount() + 2
    told = plants.month.begin(amount=amount)
    plants.month.show(told, amount=amount)
    plants.expect("missing_in_ledger", f"charge:{told.charge}")


def refund_missing_in_ledger(plants: Plants) -> None:
    told = plants.month.charge()
    reference = f"re_elsewhere_{told.id.hex}"
    plants.month.line("refund", reference, -50, told, at=told.at + timedelta(hours=1))
    plants.expect("missing_in_ledger", f"refund:{reference}", plants.drop(reference, "refund"))


def missing_at_processor(plants: Plants) -> None:
    told = plants.month.begin()
    plants.month.apply(told)
    plants.expect("missing_at_processor", f"charge:{told.id}", lambda now: plants.month.show(told))


def refund_missing_at_processor(plants: Plants) -> None:
    told = plants.month.charge()
    reference = plants.month.refund(told, 70, shown=0)
    plants.expect("missing_at_processor", f"refund:{reference}")


def amount_differs(plants: Plants) -> None:
    told = plants.month.begin()
    plants.month.apply(told)
    plants.month.show(told, amount=told.settled + 10)
    plants.expect("amount_differs", f"charge:{told.charge}", _set(plants, told, amount=told.settled))


def refund_differs(plants: Plants) -> None:
    told = plants.month.charge()
    reference = plants.month.refund(told, 70, shown=90)
    plants.expect("amount_differs", f"refund:{reference}")


def currency_differs(plants: Plants) -> None:
    told = plants.month.begin(currency="usd")
    plants.month.apply(told)
    plants.month.show(told, currency="eur")
    plants.expect("currency_differs", f"charge:{told.charge}", _set(plants, told, currency="usd"))


def _set(plants: Plants, told: Told, **given: object) -> Mend:
    """The processor's next report shows the charge as the ledger has it."""

    def mend(now: datetime) -> None:
        plants.drop(told.charge, "charge")(now)
        plants.month.show(told, **given)

    return mend


def state_differs(plants: Plants) -> None:
    told = plants.month.begin()
    plants.month.show(told, is_marked=True)
    plants.expect("state_differs", f"charge:{told.charge}")


def failed_but_charged(plants: Plants) -> None:
    told = plants.month.begin()
    plants.month.fail(told)
    plants.month.show(told, is_marked=True)
    mend = plants.drop(told.charge, "charge")
    plants.expect("state_differs", f"charge:{told.charge}", mend)


def refund_failed_later(plants: Plants) -> None:
    told = plants.month.charge()
    plants.expect("refund_failed_later", plants.month.refund(told, 60, returned=True))


def refund_failed_unheard(plants: Plants) -> None:
    told = plants.month.charge()
    reference = plants.month.refund(told, 60)
    plants.month.line("refund_failure", reference, 60, told, at=told.at + timedelta(hours=3))
    mend = plants.drop(reference, "refund_failure")
    plants.expect("refund_failed_later", reference, mend)


def dispute_open(plants: Plants) -> None:
    plants.expect("dispute_open", plants.month.dispute(plants.month.charge(), status="needs_response"))


def dispute_unheard(plants: Plants) -> None:
    told = plants.month.charge()
    reference = plants.month.dispute(told, status="needs_response", is_known=False)

    def mend(now: datetime) -> None:
        at = told.at + timedelta(hours=4)
        plants.month.line("dispute_reversal", reference, told.settled, told, at=at)

    plants.expect("dispute_open", reference, mend)


def dispute_differs(plants: Plants) -> None:
    """It was won and given back; but less was taken than was contested."""
    told = plants.month.charge()
    reference = plants.month.dispute(told, status="won", shown=told.settled - 10)
    plants.expect("amount_differs", f"dispute:{reference}")


def contradiction(plants: Plants) -> None:
    told = plants.month.charge()
    plants.month.contradict(told)
    plants.expect("contradiction", f"failed_after_applied:{told.id}:{told.charge}")


def second_charge(plants: Plants) -> None:
    told = plants.month.charge()
    second = told.charge.replace("ch_", "ch_second_")
    plants.month.show(told, reference=second, at=told.at + timedelta(minutes=2), is_marked=True)
    plants.expect("contradiction", f"second_charge:{second}", plants.drop(second, "charge"))


PLANTS: tuple[Callable[[Plants], None], ...] = (
    abandoned,
    duplicate,
    stale_pending,
    missing_in_ledger,
    suggested,
    refund_missing_in_ledger,
    missing_at_processor,
    refund_missing_at_processor,
    amount_differs,
    refund_differs,
    currency_differs,
    state_differs,
    failed_but_charged,
    refund_failed_later,
    refund_failed_unheard,
    dispute_open,
    dispute_unheard,
    dispute_differs,
    contradiction,
    second_charge,
    *DECOYS,
)
