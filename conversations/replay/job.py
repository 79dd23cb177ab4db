"""Verifying every recorded body as a job: batch by batch, going on where it stopped."""

from datetime import datetime
from typing import Any
from uuid import UUID

from conversations.replay.verify import Tally, verify_batch
from jobs.models import JobRun
from jobs.services.working import Batch, JobError

BATCH = 200
# A report names so many attempts that came back different; the count has them all.
_NAMED = 50


def verify_some(run: JobRun, now: datetime) -> Batch:
    """Verify the next bodies of a run; the last batch fails the run if any body came back different."""
    tally = Tally()
    after = (UUID(run.cursor[0]), int(run.cursor[1])) if run.cursor else None
    last = verify_batch(tally, after=after, conversation_id=_only(run), limit=BATCH)
    report = _report(run, tally)
    if last is None and report["different"]:
        raise JobError(
            "bodies-differ",
            f"{report['different']} bodies came back different from what was sent.",
            place="; ".join(report["named"])[:255],
        )
    return Batch(
        cursor=None if last is None else [str(last[0]), last[1]],
        done=tally.proved + tally.lost + len(tally.failures),
        counts={
            "bodies": {**tally.proofs, "no longer replayable": tally.lost, "different": len(tally.failures)}
        },
        report=report,
    )


def _only(run: JobRun) -> UUID | None:
    given = run.parameters.get("conversation")
    return UUID(given) if given else None


def _report(run: JobRun, tally: Tally) -> dict[str, Any]:
    before = run.report or {"different": 0, "named": [], "body bytes": 0, "patch bytes": 0}
    return {
        "different": before["different"] + len(tally.failures),
        "named": [*before["named"], *tally.failures][:_NAMED],
        "body bytes": before["body bytes"] + tally.body_bytes,
        "patch bytes": before["patch bytes"] + tally.patch_bytes,
    }
