"""Purging and erasing beside the database's own cascade, on the same kind of conversations.

Half of them go by a plain DELETE, a hundred a transaction, the other half by the purge: with holds
asked, effects looked for, rows counted, totals sealed and its progress written. Then one account goes
by a plain DELETE and another, as large, by the steps of an erasure (without the search of all stores,
which reads the whole database whoever is erased).
"""

import secrets
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from bench import corpus, timing

HALF = 1_000
BATCH = 100
OF_ONE_PERSON = 50
LEAST_PERCENT = 60
MOST_TIMES_RAW = 6.0
# Far before the corpus and before what other measurements leave (in 2020): the purge must not find it due.
LONG_AGO = datetime(2015, 1, 5, 8, 0, tzinfo=UTC)
LATE = LONG_AGO + timedelta(days=200)
FIRST_NUMBER = 5_000_000


def main(arguments: list[str]) -> int:
    corpus.ensure(corpus.wanted(arguments))
    try:
        is_quick = _measure_purge()
        is_short = _measure_erasure()
    finally:
        _forget()
        corpus.settle()
    return 0 if is_quick and is_short else 1


def _measure_purge() -> bool:
    ids = _tell(2 * HALF, first=FIRST_NUMBER, accounts=100)
    corpus.settle()
    rows = _count_rows(ids[:HALF]), _count_rows(ids[HALF:])
    began = time.perf_counter()
    _delete_raw(ids[:HALF])
    raw = rows[0] / (time.perf_counter() - began)
    began = time.perf_counter()
    _purge()
    purged = rows[1] / (time.perf_counter() - began)
    sys.stdout.write(f"  the cascade {raw:,.0f} rows a second, the purge {purged:,.0f}\n")
    return timing.at_least("purge beside the cascade", 100 * purged / raw, LEAST_PERCENT, "% of its rate")


def _measure_erasure() -> bool:
    first = _tell(OF_ONE_PERSON, first=FIRST_NUMBER + 10_000, accounts=1)
    second = _tell(OF_ONE_PERSON, first=FIRST_NUMBER + 20_000, accounts=1, prefix="other")
    began = time.perf_counter()
    _delete_account(first[0])
    raw = time.perf_counter() - began
    began = time.perf_counter()
    _erase_account(second[0])
    erased = time.perf_counter() - began
    sys.stdout.write(
        f"  an account of {OF_ONE_PERSON} conversations: DELETE {raw:.2f} s, erasure {erased:.2f} s\n"
    )
    return timing.within("erase an account", erased / raw, MOST_TIMES_RAW, "x DELETE")


def _tell(number: int, *, first: int, accounts: int, prefix: str = "purge") -> list[UUID]:
    """Write so many conversations that nobody has touched for long; their keys, by account."""
    from django.db import connection

    from access.models import Realm
    from conversations.services.accounts import ensure_account

    realm = Realm.objects.get(slug="bench")
    # Another name in every run: whoever was erased in an earlier one is not let in again.
    run = secrets.token_hex(4)
    names = [f"{prefix}-{run}-{first}-{place}" for place in range(accounts)]
    keys = [ensure_account(realm=realm, external_id=name, now=LONG_AGO).pk for name in names]
    teller = corpus.Teller(keys)
    batch = corpus.Batch()
    for place in range(number):
        teller.tell(first + place, batch)
        if (place + 1) % BATCH == 0 or place + 1 == number:
            batch.rows["bench.flat_text"], batch.rows["bench.flat_bytes"] = [], []
            corpus.copy_batch(batch)
            batch = corpus.Batch()
    ids = [corpus.conversation_id(first + place) for place in range(number)]
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE conversations_conversation SET last_activity_at = %s WHERE id = ANY(%s)", [LONG_AGO, ids]
        )
    return ids


def _count_rows(ids: Sequence[UUID]) -> int:
    from django.db import connection

    from retention.purging.deleting import COUNT_WITH_CONVERSATIONS

    with connection.cursor() as cursor:
        cursor.execute(COUNT_WITH_CONVERSATIONS, {"ids": list(ids)})
        return len(ids) + sum(number for _, number in cursor.fetchall())


def _delete_raw(ids: Sequence[UUID]) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        for start in range(0, len(ids), BATCH):
            cursor.execute(
                "DELETE FROM conversations_conversation WHERE id = ANY(%s)",
                [list(ids[start : start + BATCH])],
            )


def _purge() -> None:
    from jobs.services.starting import start_job
    from retention.purging.job import PURGE, purge

    run = start_job(kind=PURGE, scope="bench", requested_by=("job", "bench"), now=LATE)
    done = purge(run_id=run.pk, clock=lambda: LATE, load_percent=100)
    if done is None or done.state != "succeeded" or done.counts["conversations"]["gone"] != HALF:
        raise RuntimeError(f"the purge did not take what was due: {done and done.counts}")


def _delete_account(conversation_id: UUID) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM conversations_account a USING conversations_conversation c"
            " WHERE c.account_id = a.id AND c.id = %s",
            [conversation_id],
        )


def _erase_account(conversation_id: UUID) -> None:
    from django.db import transaction

    from conversations.models import Account
    from retention.erasure.job import STEPS
    from retention.erasure.subject import read_subject
    from retention.services.taking_in import take_in

    account = Account.objects.get(conversations=conversation_id)
    request = take_in(
        realm_id=account.realm_id,
        account_ids=[account.pk],
        received_at=LATE,
        now=LATE,
    )
    for step in (step for step in STEPS if step.name != "searching"):
        after = None
        while True:
            with transaction.atomic():
                outcome = step.run(read_subject(request=request, now=LATE, run_id=None), after)
            if outcome.after is None:
                break
            after = outcome.after


def _forget() -> None:
    """Leave the corpus as it was: other measurements weigh it."""
    from conversations.models import Account

    Account.objects.filter(realm__slug="bench", external_id__regex=r"^(purge|other)-").delete()
