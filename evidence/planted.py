"""`script/evidence planted [--effects 50000] [--seeds 1 2 3]`: every difference is found, once, and no other.

A month of effects with the processor's report of it is made up from a seed, and differences of every
kind are planted, beside much that looks like one and is none. The run must find exactly what was
planted. The same again finds nothing new and writes the same bytes; what is mended at the processor
is closed by the next run, and nothing else is.
"""

import argparse
import sys
import time
from collections import Counter
from datetime import datetime, timedelta

from access.actors import Actor, ActorKind
from access.models import Realm
from conversations.services.accounts import ensure_account
from evidence.month import END, START, Month
from evidence.planting import PLANTS
from evidence.plants import Plants
from jobs.models import RunState
from ledger.models import Finding, ReconciliationRun, Sighting
from ledger.reconciliation.running import reconcile
from ledger.reconciliation.starting import Asked, repeat_reconciliation, start_reconciliation
from ledger.statements.importing import Told as Said
from ledger.statements.importing import import_statement

ACTOR = Actor(ActorKind.JOB, "planted")
# Half a day after the month: what happened in its last hours still waits.
CUT_OFF = END + timedelta(hours=12)
EFFECTS = 50_000


class WrongError(AssertionError):
    """What was found is not what was planted."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="script/evidence planted")
    parser.add_argument("--effects", type=int, default=EFFECTS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--each", type=int, default=40, help="how many of each plant")
    given = parser.parse_args(arguments)
    try:
        for seed in given.seeds:
            print(prove(seed=seed, effects=given.effects, each=given.each))
    except WrongError as wrong:
        print(f"WRONG: {wrong}")
        return 1
    return 0


def prove(*, seed: int, effects: int, each: int) -> str:
    """Make the month, plant, run, run again, mend, run; return a line of figures."""
    began = time.monotonic()
    realm = Realm.objects.create(slug=f"planted-{seed}", name=f"Planted {seed}", created_at=START)
    month, plants = plant(realm, seed=seed, effects=effects, each=each)
    lines = len(month.lines)
    sys.stderr.write(f"  {month.effects} effects, {lines} lines in {time.monotonic() - began:.0f} s\n")
    first, took = run_with(realm, month)
    found = check_found(first, plants)
    check_again(first)
    closed = check_mended(realm, month, plants)
    kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(found.items()))
    return (
        f"seed {seed}: {month.effects} effects, {lines} lines, {sum(found.values())} planted and found "
        f"once each ({kinds}), nothing else; again: nothing new, same bytes; "
        f"mended {closed}, closed {closed}; run {took:.1f} s, all {time.monotonic() - began:.0f} s"
    )


def plant(realm: Realm, *, seed: int, effects: int, each: int) -> tuple[Month, Plants]:
    accounts = [ensure_account(realm=realm, external_id=f"customer-{n}", now=START).pk for n in range(200)]
    month = Month(realm_id=realm.pk, account_ids=accounts, seed=seed)
    plants = Plants(month)
    for _ in range(each):
        for make in PLANTS:
            make(plants)
            month.write_if_full()
    while month.effects < effects:
        month.charge()
        month.write_if_full()
    month.write()
    return month, plants


def run_with(realm: Realm, month: Month) -> tuple[ReconciliationRun, float]:
    """Import what the processor shows now, and reconcile with it."""
    began = time.monotonic()
    imported = import_statement(
        realm=realm,
        file=month.statement(),
        told=Said(name="march.csv", period_start=START, period_end=END),
        actor=ACTOR,
        now=CUT_OFF,
    )
    if imported.statement.skipped_count:
        raise WrongError(f"{imported.statement.skipped_count} lines could not be read")
    asked = Asked(realm=realm, processor="stripe", statement_ids=[imported.statement.pk], cut_off=CUT_OFF)
    run = start_reconciliation(asked=asked, actor=ACTOR, now=CUT_OFF)
    return finish(run), time.monotonic() - began


def finish(run: ReconciliationRun) -> ReconciliationRun:
    job = reconcile(run_id=run.job_id, clock=_clock) if run.job_id else None
    if job is None or job.state != RunState.SUCCEEDED:
        raise WrongError(f"the run ended as {job.state if job else 'nothing'}: {job.error if job else ''}")
    run.refresh_from_db()
    return run


def _clock() -> datetime:
    return CUT_OFF


def check_found(run: ReconciliationRun, plants: Plants) -> Counter[str]:
    """Each plant was found exactly once, and nothing that was not planted."""
    expected = Counter(plants.expected)
    found = Counter(Sighting.objects.filter(run=run).values_list("kind", "subject"))
    if found != expected:
        missing, extra = list((expected - found).elements()), list((found - expected).elements())
        raise WrongError(
            f"{len(missing)} not found, e.g. {missing[:3]}; {len(extra)} not planted, e.g. {extra[:3]}"
        )
    opened = Counter(Finding.objects.filter(first_run=run).values_list("kind", "subject"))
    if opened != expected:
        raise WrongError("findings are not what the run saw")
    return Counter(kind for kind, _ in found.elements())


def check_again(run: ReconciliationRun) -> None:
    """The same inputs again: nothing new, and the same report to the byte."""
    again = finish(repeat_reconciliation(run_id=run.pk, actor=ACTOR, now=CUT_OFF))
    if Sighting.objects.filter(run=again, is_new=True).exists():
        raise WrongError("the second run found something new")
    if again.report != run.report:
        raise WrongError("the second run wrote another report")


def check_mended(realm: Realm, month: Month, plants: Plants) -> int:
    """Mend one of each kind that can be mended at the processor: those are closed, and no other."""
    mended = {kind: (kind, subject) for kind, subject in plants.mends}
    for key in mended.values():
        plants.mends[key](CUT_OFF)
    run, _ = run_with(realm, month)
    if Sighting.objects.filter(run=run, is_new=True).exists():
        extra = Sighting.objects.filter(run=run, is_new=True).values_list("kind", "subject")[:3]
        raise WrongError(f"mending made new findings: {list(extra)}")
    closed = set(Finding.objects.filter(realm=realm, state="closed").values_list("kind", "subject"))
    if closed != set(mended.values()):
        raise WrongError(
            f"mended and open: {sorted(set(mended.values()) - closed)}; "
            f"closed unmended: {sorted(closed - set(mended.values()))[:3]}"
        )
    return len(closed)
