"""The kinds of jobs that the console knows by name, and what a person may say when starting one.

A kind is the name of a Celery task, or of what a command does in the foreground. One that is not
listed here still has its runs shown, under its own name; it is started by the schedule or by a service.
"""

from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Kind:
    """`parameters` are (name, label) of texts that may be left out.

    `again` says what to do where a run in the foreground ended early.
    """

    name: str
    title: str
    purpose: str
    parameters: tuple[tuple[str, str], ...] = field(default=())
    may_run_dry: bool = False
    may_be_started: bool = True
    again: str = ""


IMPORT: Final = "conversations.import"
EXPORT: Final = "conversations.export"

KINDS: Final[tuple[Kind, ...]] = (
    Kind(
        "jobs.sweep",
        "Free abandoned runs",
        "Queues again what a dead worker held, and sets aside what keeps dying.",
        may_be_started=False,
    ),
    Kind(
        IMPORT,
        "Import conversations",
        "Takes a file of conversations in. It is started at a terminal: manage.py import_conversations.",
        may_be_started=False,
        again="What was written stays. Importing the file again is safe: what is in adds nothing, "
        "and the rest goes in.",
    ),
    Kind(
        EXPORT,
        "Export conversations",
        "Writes conversations out. It is started at a terminal: manage.py export_conversations.",
        may_be_started=False,
        again="What was written until then is not the whole selection. Export again, into another file.",
    ),
    Kind(
        "conversations.verify_replay",
        "Verify replay",
        "Rebuilds every recorded request body and checks it against its digest.",
        parameters=(("conversation", "Only this conversation (its id)"),),
    ),
    Kind(
        "ledger.sweep",
        "Sweep effects",
        "Asks the processor about requests whose answer was lost. Looks and settles, never sends.",
    ),
    Kind("ledger.send_refunds", "Send refunds", "Sends the refunds that two people have agreed on."),
    Kind("ledger.work_events", "Work on events", "Works on events that were kept while no worker was there."),
    Kind("ledger.pull", "Pull movements", "Asks the processor for what webhooks missed."),
    Kind(
        "ledger.reconcile",
        "Reconcile",
        "Compares ledger, processor and conversations; asked for on the page of reconciliation runs.",
        may_be_started=False,
    ),
    Kind(
        "ledger.reconcile_daily",
        "Reconcile the last days",
        "Pulls the last days’ movements from the processor and starts a reconciliation for each realm.",
    ),
    Kind("ledger.send_alerts", "Send alerts", "Tells of new unexplained money, failed and overdue runs."),
    Kind(
        "ledger.verify_integrity",
        "Verify integrity",
        "Proves that the invariants of trees and ledger hold and opens every archive, or says where not.",
    ),
    Kind(
        "retention.purge",
        "Purge",
        "Takes away what policies say must go, and nothing holds.",
        may_run_dry=True,
    ),
    Kind(
        "retention.erase",
        "Erase a person",
        "Carries out one erasure request, step by step; it is started on the erasure desk.",
        may_be_started=False,
    ),
    Kind(
        "retention.continue_erasures",
        "Go on with erasures",
        "Starts requests again that waited for the release of a hold.",
    ),
    Kind(
        "retention.forget_answers",
        "Forget answers of the API",
        "Deletes what was kept for requests with an idempotency key, once it is two days old.",
    ),
)
_BY_NAME: Final = {kind.name: kind for kind in KINDS}


def kind_of(name: str) -> Kind:
    """Return what is known of a kind; one that is not listed has its name and cannot be started here."""
    return _BY_NAME.get(name) or Kind(name, name, "", may_be_started=False)
