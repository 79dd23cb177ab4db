"""What goes by its own age alone: lines of the access log, sealed totals, runs of jobs.

The next batch is whatever is left. In a dry run each one comes back, so there all are counted at once.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from access.services.purging import count_log, purge_log
from retention.layers import load_layers
from retention.purging.step import Ask, Taken
from retention.vocabulary import DataClass, PolicyAction


def take_access_log(ask: Ask) -> Taken:
    """Purge by the owner's one function, which keeps its own floor whatever the policy says."""
    days = load_layers(data_class=DataClass.ACCESS_LOG, now=ask.now).shortest(PolicyAction.PURGE)
    if days is None:
        return Taken()
    before = ask.now - timedelta(days=days)
    purged = count_log(before=before) if ask.is_dry_run else purge_log(before=before, limit=ask.limit)
    gone = purged.entries + purged.reasons
    taken = Taken("more" if max(purged) == ask.limit and not ask.is_dry_run else None)
    taken.count("due", gone)
    taken.count("accessentry", purged.entries)
    taken.count("statedreason", purged.reasons)
    taken.count("gone", gone)
    return taken


def take_rollups(ask: Ask) -> Taken:
    days = load_layers(data_class=DataClass.ROLLUPS, now=ask.now).shortest(PolicyAction.PURGE)
    taken = Taken()
    if days is None:
        return taken
    before = {"before": (ask.now - timedelta(days=days)).date()}
    for table in ("generationrollup", "toolrollup"):
        _take(ask, taken, f"retention_{table}", "s.day < %(before)s", before, order="s.id")
    return taken


# A run that failed is looked into later than others: it stays so many times as long.
FAILED_STAYS_TIMES = 6
# What a reconciliation was made by stays with it; so does the last run of each kind, which the
# schedule shows and by which an overdue job is noticed.
RUN_IS_OVER = """
s.queued_at < %(before)s
AND s.finished_at < CASE WHEN s.state = 'failed' THEN %(before_failed)s ELSE %(before)s END
AND NOT EXISTS (SELECT FROM ledger_reconciliationrun r WHERE r.job_id = s.id)
AND s.id NOT IN (SELECT DISTINCT ON (last.kind) last.id FROM jobs_jobrun last
    ORDER BY last.kind, last.queued_at DESC)
"""


def bounds_of_runs(days: int, now: datetime) -> dict[str, datetime]:
    return {
        "before": now - timedelta(days=days),
        "before_failed": now - timedelta(days=days * FAILED_STAYS_TIMES),
    }


def take_job_runs(ask: Ask) -> Taken:
    days = load_layers(data_class=DataClass.JOB_RUNS, now=ask.now).shortest(PolicyAction.PURGE)
    taken = Taken()
    if days is None:
        return taken
    bounds = bounds_of_runs(days, ask.now)
    _take(ask, taken, "jobs_jobrun", RUN_IS_OVER, bounds, order="s.queued_at, s.id")
    return taken


def _take(
    ask: Ask, taken: Taken, table: str, condition: str, parameters: Mapping[str, Any], *, order: str
) -> None:
    """Delete a batch of the table's rows `s` that meet the condition, or count them all in a dry run."""
    with connection.cursor() as cursor:
        if ask.is_dry_run:
            cursor.execute(f"SELECT count(*) FROM {table} s WHERE {condition}", parameters)
            number = cursor.fetchone()[0]
        else:
            cursor.execute(
                f"DELETE FROM {table} WHERE id IN"
                f" (SELECT s.id FROM {table} s WHERE {condition} ORDER BY {order} LIMIT %(limit)s)",
                {**parameters, "limit": ask.limit},
            )
            number = cursor.rowcount
            if number == ask.limit:
                taken.after = "more"
    for name in ("due", table.partition("_")[2], "gone"):
        taken.count(name, number)
