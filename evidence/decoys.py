"""Planted in a month: one of everything that only looks like a difference. A run finds nothing of it."""

from collections.abc import Callable
from datetime import timedelta

from evidence.month import END
from evidence.plants import Plants


def refunded(plants: Plants) -> None:
    told = plants.month.charge()
    plants.month.refund(told, 40)
    plants.month.refund(told, told.settled - 40)


def captured_in_part(plants: Plants) -> None:
    told = plants.month.begin(amount=10_000)
    plants.month.apply(told, settled=6_000)
    plants.month.show(told, amount=10_000)
    reference = f"re_release_{told.id.hex}"
    plants.month.line("partial_capture_reversal", reference, -4_000, told, at=told.at)


def captured_in_steps(plants: Plants) -> None:
    told = plants.month.begin(amount=10_000)
    plants.month.apply(told)
    plants.month.show(told, amount=4_000)
    plants.month.show(told, amount=6_000)


def dispute_won(plants: Plants) -> None:
    plants.month.dispute(plants.month.charge(), status="won")


def failed(plants: Plants) -> None:
    plants.month.fail(plants.month.begin())


def edited_before_charging(plants: Plants) -> None:
    """The head was brought back: the charge is on the live path."""
    plants.month.fork(plants.month.charge(), charges_again=False, is_head_moved=False)


def used_on_the_other_branch(plants: Plants) -> None:
    told = plants.month.charge()
    plants.month.fork(told, charges_again=False)
    plants.month.use(told, 4)


def waits_for_the_processor(plants: Plants) -> None:
    plants.month.apply(plants.month.begin(at=END - timedelta(hours=6)))


def waits_for_the_ledger(plants: Plants) -> None:
    told = plants.unwritten()
    plants.month.show(told, at=END - timedelta(hours=6))


def payout(plants: Plants) -> None:
    told = plants.unwritten()
    plants.month.line("payout", f"po_{told.charge}", -told.amount, told, at=told.at)


DECOYS: tuple[Callable[[Plants], None], ...] = (
    refunded,
    captured_in_part,
    captured_in_steps,
    dispute_won,
    failed,
    edited_before_charging,
    used_on_the_other_branch,
    waits_for_the_processor,
    waits_for_the_ledger,
    payout,
)
