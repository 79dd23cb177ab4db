"""An import as a run of a job: who imported which file, how far it is, and what became of it.

The run is written down beside the import and never within it: a dry run keeps its report, and
an import that is killed leaves a run that is freed as abandoned. Importing again is always
safe, so two imports of one file may go on at once, and nothing waits for a run that was killed.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from access.actors import Actor, ActorKind
from access.models import Realm
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from conversations.imports.streams import text_bytes
from conversations.models import Account
from conversations.services.importing.file_digest import FileDigest
from conversations.services.importing.following import MAX_REASON, Advance, Follower
from conversations.services.importing.importing import import_file
from conversations.services.importing.report import ExitStatus, ImportReport
from conversations.wire.literals import readable_copy
from jobs.models import JobRun
from jobs.services.attending import BEAT, Attendance, Standing, attended, begin_here

KIND: Final = "conversations.import"


class Recorded(NamedTuple):
    """What became of an import, and the run that keeps it.

    `is_abandoned` where the run was freed meanwhile (a suspended machine): the import
    ended early then, and the run has no report.
    """

    report: ImportReport
    run_id: UUID
    is_abandoned: bool


def import_recorded(
    *,
    path: Path,
    realm: Realm,
    asked_by: Actor,
    now: datetime,
    account: str = "",
    is_dry_run: bool = False,
    keep_originals: bool = True,
    advance: Advance | None = None,
    total: int | None = None,
    clock: Callable[[], datetime] = timezone.now,
    every: timedelta = BEAT,
) -> Recorded:
    """Import a file as `import_file` does, as a run that the console shows.

    What is imported names the run as the importer that brought it. The run fails where the
    file is refused; what was not imported of a file that was taken stands in its report. A
    stop that is asked for in the console is heeded between conversations. `total` is how many
    bytes of text the file holds, where the caller has counted them.
    """
    size = path.stat().st_size
    follower = Follower(advance, total=text_bytes(path) if total is None else total)
    told = {
        "file": readable_copy(path.name),
        "size": size,
        "realm": realm.slug,
        "realm_id": realm.pk,
        "account": readable_copy(account),
        "keeps_originals": keep_originals,
    }
    run = _begin(told, realm, asked_by, now, is_dry_run=is_dry_run)
    with FileDigest(path) as digest:

        def read() -> Standing:
            return follower.standing(sha256=digest.so_far)

        def conclude() -> Standing:
            return follower.last_standing(sha256=digest.wait() if follower.is_over else digest.so_far)

        with attended(run, read=read, conclude=conclude, clock=clock, every=every) as attendance:
            follower.may_go_on = lambda: attendance.may_go_on
            report = import_file(
                path=path,
                realm=realm,
                actor=Actor(ActorKind.IMPORTER, str(run.pk)),
                now=now,
                account=account,
                is_dry_run=is_dry_run,
                keep_originals=keep_originals,
                progress=follower.take,
            )
            follower.end_with(report)
            _judge(report, attendance)
    return Recorded(report, run.pk, attendance.is_lost)


@transaction.atomic
def _begin(told: dict[str, Any], realm: Realm, asked_by: Actor, now: datetime, *, is_dry_run: bool) -> JobRun:
    run = begin_here(
        kind=KIND,
        requested_by=(asked_by.kind, asked_by.id),
        now=now,
        parameters=told,
        is_dry_run=is_dry_run,
        unit="bytes",
    )
    known = Account.objects.filter(realm=realm, external_id=told["account"]).first()
    log_access(
        actor=asked_by,
        action=AccessAction.JOB_START,
        target_kind=TargetKind.JOB,
        target_id=str(run.pk),
        realm_id=realm.pk,
        account_id=known.pk if known else None,
        now=now,
    )
    return run


def _judge(report: ImportReport, attendance: Attendance) -> None:
    if report.is_stopped:
        attendance.stop()
    elif report.exit_status == ExitStatus.REFUSED:
        first = report.refused[0]
        attendance.fail(
            code="file-refused",
            error=f"The file was refused, taken for {first.text[:MAX_REASON]}.",
            place=first.place,
        )
