"""The integrity job: proof that the invariants of tree and ledger hold, or where they do not.

Goes through all conversations, archive files and effects by key, a batch at a time, and changes nothing. The
job's report says, rule by rule, how many rows break it, and names the first of them; so it does for what was
received broken and is marked, which breaks no rule.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from conversations.models import Archive, Conversation
from jobs.models import JobRun
from jobs.services.working import Batch, work
from ledger.integrity.archives import ARCHIVE_RULES, broken_archives
from ledger.integrity.rules import CONVERSATION_RULES, EFFECT_RULES, RECEIVED_BROKEN
from ledger.models import ToolEffect

KIND = "ledger.verify_integrity"
AT_ONCE = 500
# Each is a file to fetch and to open.
ARCHIVES_AT_ONCE = 20
# So many places of each rule are named; the number is counted in full.
PLACES = 50
type Clock = Callable[[], datetime]


def verify_integrity(*, run_id: UUID, clock: Clock = timezone.now, at_once: int = AT_ONCE) -> JobRun | None:
    """Work on a job of kind `ledger.verify_integrity`; None where there was nothing to claim."""

    def batch(job: JobRun, now: datetime) -> Batch:
        return _batch(job, at_once)

    return work(run_id=run_id, batch=batch, clock=clock)


def broken_rules(rules: Mapping[str, str], ids: Sequence[UUID]) -> dict[str, list[str]]:
    """Return what breaks these rules within these keys; empty is well."""
    found: dict[str, list[str]] = {}
    with connection.cursor() as cursor:
        for rule, query in rules.items():
            cursor.execute(query, {"ids": list(ids)})
            if places := [row[0] for row in cursor.fetchall()]:
                found[rule] = sorted(places)
    return found


def _batch(job: JobRun, at_once: int) -> Batch:
    cursor: dict[str, Any] = job.cursor or {"part": "conversations", "after": None}
    part = cursor["part"]
    if part == "archives":
        at_once = min(at_once, ARCHIVES_AT_ONCE)
    ids = _next(part, cursor["after"], at_once)
    broken = _broken(part, ids) if ids else {}
    marked = broken_rules(RECEIVED_BROKEN, ids) if ids and part == "conversations" else {}
    report = _added(job.report, broken, marked)
    counts = {
        "checked": {part: len(ids)} if ids else {},
        "broken": _numbers(broken),
        "received broken": _numbers(marked),
    }
    following: dict[str, Any] | None = {"part": part, "after": str(ids[-1])} if ids else None
    if len(ids) < at_once:
        following = {"part": _FOLLOWING[part], "after": None} if part in _FOLLOWING else None
    total = None
    if job.cursor is None:
        total = sum(rows.count() for rows in _ROWS.values())
    return Batch(cursor=following, done=len(ids), total=total, counts=counts, report=report)


_ROWS: dict[str, QuerySet[Any]] = {
    "conversations": Conversation.objects.all(),
    "archives": Archive.objects.all(),
    "effects": ToolEffect.objects.all(),
}
_FOLLOWING = {"conversations": "archives", "archives": "effects"}


def _broken(part: str, ids: Sequence[UUID]) -> dict[str, list[str]]:
    if part == "archives":
        return broken_archives(ids)
    return broken_rules(CONVERSATION_RULES if part == "conversations" else EFFECT_RULES, ids)


def _next(part: str, after: str | None, limit: int) -> list[UUID]:
    rows = _ROWS[part].all()
    if after is not None:
        rows = rows.filter(pk__gt=UUID(after))
    return list(rows.order_by("pk").values_list("pk", flat=True)[:limit])


def _numbers(found: Mapping[str, Sequence[str]]) -> dict[str, int]:
    return {name: len(places) for name, places in found.items()}


def _added(
    report: Any, broken: Mapping[str, Sequence[str]], marked: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Add a batch to the report: every rule has its line from the start, those that hold too."""
    report = report or {}
    rules = _lines(
        report.get("rules", {}), (*CONVERSATION_RULES, *ARCHIVE_RULES, *EFFECT_RULES), broken, "broken"
    )
    return {
        "rules": rules,
        "holds": not any(line["broken"] for line in rules.values()),
        "received_broken": _lines(report.get("received_broken", {}), tuple(RECEIVED_BROKEN), marked, "found"),
    }


def _lines(
    before: Mapping[str, Any], names: Sequence[str], found: Mapping[str, Sequence[str]], counted: str
) -> dict[str, Any]:
    lines = {name: before.get(name, {counted: 0, "places": []}) for name in names}
    for name, places in found.items():
        lines[name] = {
            counted: lines[name][counted] + len(places),
            "places": [*lines[name]["places"], *places][:PLACES],
        }
    return lines
