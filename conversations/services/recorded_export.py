"""An export as a run of a job: who took which selection out, in the access log before anything leaves."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from access.actors import Actor
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from conversations.models import Account, Conversation
from conversations.services.exporting import ExportFailure
from conversations.wire.literals import readable_copy
from jobs.models import JobRun
from jobs.services.attending import BEAT, Standing, attended, begin_here

KIND: Final = "conversations.export"
# A report names so many that could not be exported; the count has them all.
MAX_NAMED: Final = 200
MAX_REASON: Final = 300

type Line = bytes | ExportFailure


class Exported(NamedTuple):
    """`is_whole` is false where somebody stopped the run in the console."""

    failures: int
    run_id: UUID
    is_whole: bool


def export_recorded(
    *,
    selection: QuerySet[Conversation],
    lines: Iterable[Line],
    write: Callable[[Line], None],
    told: Mapping[str, Any],
    asked_by: Actor,
    now: datetime,
    unit: str = "conversations",
    clock: Callable[[], datetime] = timezone.now,
    every: timedelta = BEAT,
) -> Exported:
    """Hand each line of an export to `write`, as a run that the console shows.

    `told` is what the selection was told, for the run's page; of it, `realm_id` and `account` say
    whose the line in the access log is. Lines are counted in `unit`.
    """
    selected = selection.count()
    run = _begin(selected, told, asked_by, now, unit)
    tally = _Tally(total=selected if unit == "conversations" else None)
    with attended(
        run, read=tally.standing, conclude=tally.last_standing, clock=clock, every=every
    ) as attendance:
        for line in lines:
            if not attendance.may_go_on:
                attendance.stop()
                break
            write(line)
            tally.add(line)
        else:
            tally.is_whole = True
    return Exported(tally.failures, run.pk, tally.is_whole)


@transaction.atomic
def _begin(selected: int, told: Mapping[str, Any], asked_by: Actor, now: datetime, unit: str) -> JobRun:
    run = begin_here(
        kind=KIND, requested_by=(asked_by.kind, asked_by.id), now=now, parameters=told, unit=unit
    )
    realm_id, named = told.get("realm_id"), told.get("conversations", [])
    accounts = Account.objects.filter(external_id=told.get("account", ""))
    if realm_id is not None:
        accounts = accounts.filter(realm_id=realm_id)
    account_ids = list(accounts.values_list("pk", flat=True)[:2])
    log_access(
        actor=asked_by,
        action=AccessAction.EXPORT,
        target_kind=TargetKind.JOB,
        target_id=str(run.pk),
        realm_id=realm_id,
        conversation_id=UUID(named[0]) if len(named) == 1 else None,
        account_id=account_ids[0] if len(account_ids) == 1 else None,
        row_count=selected,
        now=now,
    )
    return run


@dataclass(slots=True)
class _Tally:
    """What has left so far. Written by the exporting thread, read by the one that keeps the lease."""

    total: int | None
    written: int = 0
    size: int = 0
    failures: int = 0
    is_whole: bool = False
    _named: list[dict[str, str]] = field(default_factory=list)
    _digest: Any = field(default_factory=hashlib.sha256)

    def add(self, line: Line) -> None:
        if isinstance(line, bytes):
            self.written += 1
            self.size += len(line)
            self._digest.update(line)
            return
        self.failures += 1
        if len(self._named) < MAX_NAMED:
            place, reason = readable_copy(line.place), readable_copy(line.reason)[:MAX_REASON]
            self._named.append({"place": place, "reason": reason})

    def standing(self) -> Standing:
        counts = {"lines": {"exported": self.written, "not exported": self.failures}}
        return Standing(self.written + self.failures, self.total, counts=counts)

    def last_standing(self) -> Standing:
        """With what was written, to know the file again: its size, and its SHA-256."""
        report = {
            "sha256": self._digest.hexdigest(),
            "size": self.size,
            "not_exported": {"count": self.failures, "first": self._named},
        }
        return replace(self.standing(), report=report)
