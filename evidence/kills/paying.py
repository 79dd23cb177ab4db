"""Jobs that ask a processor, with the sandbox as a process of its own: events, looks, refunds, statements.

Each story is told of customers of its own at the processor, whose books are read in the end: what
was charged and given back there must be what an undisturbed run leaves. A dead worker's lease
takes six minutes to end by the sandbox's clock, which is the only one here.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import stripe

from evidence.crashes import processes
from evidence.crashes.stories import AMOUNT, WORKER, World
from evidence.crashes.stories import Story as Purchase
from evidence.kills.story import Story, end_the_lease
from jobs.models import JobRun
from jobs.services.starting import start_job
from ledger.models import Compensation, Dispute, EffectReference, ToolEffect, WebhookEvent
from ledger.processors import STRIPE
from ledger.services import duties, pulling, sweeping
from ledger.vocabulary import EffectState

CUSTOMERS = 5
MINUTE, HOUR = 60, 3600
DAY = 24 * HOUR


@dataclass
class Shop:
    """What one round is about: purchases of customers that no other round has."""

    world: World
    began: datetime
    purchases: list[Purchase] = field(default_factory=list)

    def buys(self) -> Purchase:
        """A charge whose answer is heard."""
        purchase = self.world.tell("kill")
        self.world.agent(purchase, "toolu_1")()
        self.purchases.append(purchase)
        return purchase

    def buys_unheard(self, *, arrives: bool = True) -> Purchase:
        """A charge whose answer is lost, or whose request is."""
        purchase = self.world.tell("kill")
        fault = "answer_lost" if arrives else "cut_before"
        self.world.processor.ask_for(fault, path="/v1/payment_intents")
        try:
            self.world.agent(purchase, "toolu_1")()
        except stripe.APIConnectionError:
            self.purchases.append(purchase)
            return purchase
        raise LookupError("the answer was not lost")

    def charge_of(self, purchase: Purchase) -> str:
        books = self.world.processor.books()
        return next(one["id"] for one in books["charges"] if one["customer"] == purchase.customer)

    def outcome(self, job: JobRun) -> tuple[Any, ...]:
        """How the job ended, what it counted in all, what the ledger says and what the processor does."""
        counted = {step: sum(words.values()) for step, words in job.counts.items()}
        return job.state, job.done, counted, self._ledger(), self._events(), self._books()

    def _ledger(self) -> list[Any]:
        talks = [purchase.conversation_id for purchase in self.purchases]
        told = []
        for effect in ToolEffect.objects.filter(conversation_id__in=talks).order_by("requested_at"):
            kinds = EffectReference.objects.filter(effect=effect).values_list("kind", flat=True)
            refunds = Compensation.objects.filter(effect=effect).order_by("requested_at", "amount_minor")
            told.append(
                (
                    effect.state,
                    effect.amount_settled_minor,
                    effect.amount_compensated_minor,
                    list(effect.moves.order_by("number").values_list("to_state", flat=True)),
                    sorted(kinds),
                    [(one.state, one.origin, one.amount_minor, one.versions.count()) for one in refunds],
                    list(Dispute.objects.filter(effect=effect).values_list("status", "amount_minor")),
                )
            )
        return told

    def _events(self) -> Counter[tuple[str, str, bool]]:
        events = WebhookEvent.objects.filter(received_at__gte=self.began)
        return Counter(
            (kind, trouble, done is not None)
            for kind, trouble, done in events.values_list("type", "trouble", "processed_at")
        )

    def _books(self) -> list[tuple[list[int], list[int]]]:
        """For each customer what was charged, and what was given back."""
        books = self.world.processor.books()
        told = []
        for purchase in self.purchases:
            charges = {
                one["id"]: one["amount"] for one in books["charges"] if one["customer"] == purchase.customer
            }
            refunds = sorted(one["amount"] for one in books["refunds"] if one["charge"] in charges)
            told.append((sorted(charges.values()), refunds))
        return told


@dataclass
class Duty:
    """One job of the ledger that asks the processor, told anew in each round."""

    world: World
    name: str
    duty: Callable[..., JobRun | None]
    tell: Callable[[World], Shop]
    shop: Shop | None = None

    def story(self) -> Story:
        return Story(
            name=self.name,
            begin=self._begin,
            work=lambda run_id: self.duty(run_id=run_id, clock=self.world.now),
            outcome=lambda job: self.shop.outcome(job) if self.shop else None,
            forget=lambda: leave_nothing_open(self.world),
            free=self._free,
        )

    def _begin(self) -> JobRun:
        self.shop = self.tell(self.world)
        return start_job(kind=self.name, requested_by=("job", "kill"), now=self.world.now())

    def _free(self, job: JobRun) -> int:
        turn(self.world, 6 * MINUTE)
        return end_the_lease(job)


def turn(world: World, seconds: int) -> None:
    world.processor.turn_clock(seconds=seconds)


def in_a_process(act: Callable[[], Any]) -> None:
    """Ask the processor in a process that ends: none that is killed inherits an open connection."""

    if processes.run(act, is_loud=True).has_failed:
        raise RuntimeError("what prepares a story failed")


def leave_nothing_open(world: World) -> None:
    """Find out about every request that the round leaves open, so that no later round meets it."""
    turn(world, 27 * HOUR)

    def look() -> None:
        for pk in ToolEffect.objects.filter(realm=world.realm, state=EffectState.PENDING).values_list("pk"):
            sweeping.look(effect_id=pk[0], actor=WORKER, now=world.now())

    in_a_process(look)


def sweep_story(world: World) -> Story:
    return Duty(world, "ledger.sweep", duties.sweep_effects, _lose_answers).story()


def refund_story(world: World) -> Story:
    return Duty(world, "ledger.send_refunds", duties.send_due_refunds, _agree_on_refunds).story()


def event_story(world: World) -> Story:
    return Duty(world, "ledger.work_events", duties.work_waiting_events, _keep_events).story()


def pull_story(world: World) -> Story:
    return Duty(world, pulling.KIND, duties.pull_missed_events, _miss_events).story()


def _lose_answers(world: World) -> Shop:
    """Answers that were lost, requests that were, and one of which nothing can be known yet."""
    leave_nothing_open(world)
    shop = Shop(world, world.now())
    for _ in range(CUSTOMERS):
        shop.buys_unheard()
        shop.buys_unheard(arrives=False)
    turn(world, 27 * HOUR)
    shop.buys_unheard(arrives=False)
    turn(world, 5 * MINUTE)
    return shop


def _agree_on_refunds(world: World) -> Shop:
    """Refunds that two people have agreed on."""
    shop = Shop(world, world.now())
    for _ in range(2 * CUSTOMERS):
        world.approve_refund(shop.buys())
    return shop


def _keep_events(world: World) -> Shop:
    """Events that were kept while nobody could be woken."""
    shop = _live(world)

    def keep() -> None:
        until = world.now() + timedelta(seconds=1)
        taken = pulling.take_in_window(processor=STRIPE, since=shop.began, until=until, now=world.now())
        if not sum(one.is_new for one in taken):
            raise LookupError("there are no events to be worked on")

    in_a_process(keep)
    return shop


def _miss_events(world: World) -> Shop:
    """What no webhook brought since the last pull."""
    before = start_job(kind=pulling.KIND, requested_by=("job", "kill"), now=world.now())
    in_a_process(lambda: duties.pull_missed_events(run_id=before.pk, clock=world.now))
    turn(world, HOUR)
    shop = _live(world)
    turn(world, MINUTE)
    return shop


def _live(world: World) -> Shop:
    """Lost answers, a refund in the dashboard, one that the bank sends back, a dispute."""
    shop, processor = Shop(world, world.now()), world.processor
    for _ in range(CUSTOMERS):
        shop.buys_unheard()
    given, returned, disputed = (shop.charge_of(shop.buys()) for _ in range(3))
    processor.pull("refunds", {"charge": given, "amount": AMOUNT // 2})
    lost = processor.pull("refunds", {"charge": returned, "amount": AMOUNT})
    turn(world, 2)
    processor.fail_refund(lost["id"])
    processor.open_dispute(disputed)
    turn(world, 2)
    return shop
