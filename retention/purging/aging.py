"""What goes by its own age alone: lines of the access log, sealed totals, runs of jobs."""

from datetime import datetime, timedelta

from django.db import connection

from access.services.purging import purge_log
from retention.layers import load_layers
from retention.purging.step import Ask, Taken
from retention.vocabulary import DataClass, PolicyAction


def take_access_log(ask: Ask) -> Taken:
    """Purge by the owner's one function, which keeps its own floor whatever the policy says."""
    days = load_layers(data_class=DataClass.ACCESS_LOG, now=ask.now).shortest(PolicyAction.PURGE)
    if days is None:
        return Taken()
    purged = purge_log(before=ask.now - timedelta(days=days), limit=ask.limit)
    gone = purged.entries + purged.reasons
    taken = Taken("more" if max(purged) == ask.limit else None)
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
    before = (ask.now - timedelta(days=days)).date()
    for table in ("generationrollup", "toolrollup"):
        with connection.cursor() as cursor:
            cursor.execute(
                f"DELETE FROM retention_{table} WHERE id IN"
                f" (SELECT id FROM retention_{table} WHERE day < %s ORDER BY id LIMIT %s)",
                [before, ask.limit],
            )
            taken.count("due", cursor.rowcount)
            taken.count(table, cursor.rowcount)
            taken.count("gone", cursor.rowcount)
            if cursor.rowcount == ask.limit:
                taken.after = "more"
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
    if days is None:
        return Taken()
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM jobs_jobrun WHERE id IN (SELECT s.id FROM jobs_jobrun s"
            f" WHERE {RUN_IS_OVER} ORDER BY s.queued_at, s.id LIMIT %(limit)s)",
            {**bounds_of_runs(days, ask.now), "limit": ask.limit},
        )
        taken = Taken("more" if cursor.rowcount == ask.limit else None)
        for name in ("due", "jobrun", "gone"):
            taken.count(name, cursor.rowcount)
    return taken
