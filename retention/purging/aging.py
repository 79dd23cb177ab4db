"""What goes by its own age alone: lines of the access log, sealed totals."""

from datetime import timedelta

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
