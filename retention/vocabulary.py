"""The closed lists of retention; each has a CHECK of the same values in the database."""

from django.db.models import TextChoices


class DataClass(TextChoices):
    """What a policy is about. Each class has its own clock and its own way of going."""

    CONVERSATION = "conversation", "Conversations"
    CONVERSATION_BYTES = "conversation_bytes", "What was said in them"
    ABANDONED_BRANCHES = "abandoned_branches", "Abandoned branches"
    TOOL_PAYLOADS = "tool_payloads", "What tools were given and gave back"
    GENERATION_DETAIL = "generation_detail", "Attempts in detail"
    RAW_BODIES = "raw_bodies", "Raw bodies"
    BLOBS = "blobs", "Files and fragments that nothing names"
    ACCESS_LOG = "access_log", "The access log"
    ROLLUPS = "rollups", "Sealed totals by day"
    JOB_RUNS = "job_runs", "Runs of jobs that have ended"


class PolicyScope(TextChoices):
    """The layers, widest first: the narrowest one that has a rule decides."""

    DEFAULT = "default", "Everywhere"
    REALM = "realm", "One realm"
    ACCOUNT = "account", "One account"


class PolicyAction(TextChoices):
    PURGE = "purge", "Delete"
    STRIP = "strip", "Take the bytes, keep the rows"
    ARCHIVE = "archive", "Put the bytes into a file, keep the rows"
    KEEP = "keep", "Keep"
    INHERIT = "inherit", "As the wider layer says"


ACTIONS_OF: dict[DataClass, frozenset[PolicyAction]] = {
    DataClass.CONVERSATION: frozenset({PolicyAction.PURGE}),
    DataClass.CONVERSATION_BYTES: frozenset({PolicyAction.STRIP, PolicyAction.ARCHIVE}),
    DataClass.ABANDONED_BRANCHES: frozenset({PolicyAction.PURGE}),
    DataClass.TOOL_PAYLOADS: frozenset({PolicyAction.STRIP}),
    DataClass.GENERATION_DETAIL: frozenset({PolicyAction.PURGE}),
    DataClass.RAW_BODIES: frozenset({PolicyAction.PURGE}),
    DataClass.BLOBS: frozenset({PolicyAction.PURGE}),
    DataClass.ACCESS_LOG: frozenset({PolicyAction.PURGE}),
    DataClass.ROLLUPS: frozenset({PolicyAction.PURGE}),
    DataClass.JOB_RUNS: frozenset({PolicyAction.PURGE}),
}

# These are nobody's: a rule for one realm or account would mean nothing.
ONLY_EVERYWHERE = frozenset({DataClass.BLOBS, DataClass.ACCESS_LOG, DataClass.ROLLUPS, DataClass.JOB_RUNS})


class HoldTarget(TextChoices):
    ACCOUNT = "account", "Account"
    CONVERSATION = "conversation", "Conversation"
    EFFECT = "effect", "Effect"


class HoldStep(TextChoices):
    """What happened to a hold, in the order of its life."""

    PLACED = "placed", "Placed"
    RELEASE_REQUESTED = "release_requested", "Release asked for"
    RELEASE_REFUSED = "release_refused", "Release refused"
    RELEASED = "released", "Released"


class Blocker(TextChoices):
    """Why something that is due stays."""

    HOLD = "hold", "Held"
    DISPUTE = "dispute", "A dispute is open"
    OPEN_EFFECT = "open_effect", "An effect is open"
    OPEN_REFUND = "open_refund", "A refund is on its way"
    FINDING = "finding", "A finding is open"
    ARCHIVE = "archive", "Its archive cannot be opened"
    BUSY = "busy", "Somebody else was working on it"


class RequestState(TextChoices):
    """Where an erasure request stands. Partly done: something was held, the rest is gone."""

    INTAKE = "intake", "Taken in"
    IDENTIFIED = "identified", "Identity checked"
    PREVIEWED = "previewed", "Waits for approval"
    APPROVED = "approved", "Approved"
    RUNNING = "running", "Running"
    PARTLY_DONE = "partly_done", "Partly done"
    DONE = "done", "Done"
    WITHDRAWN = "withdrawn", "Withdrawn"


class RequestOrigin(TextChoices):
    DESK = "desk", "The desk"
    APPLICATION = "application", "An application"
    RESTORED = "restored", "Came back with a restore"


class IdentityCheck(TextChoices):
    SIGNED_IN = "signed_in", "Signed in to the account"
    CONFIRMED_EMAIL = "confirmed_email", "Answered from the account's address"
    DOCUMENT = "document", "Showed a document"
    AUTHORITY = "authority", "Asked by an authority or a representative"


class IdentifierKind(TextChoices):
    EMAIL = "email", "E-mail address"
    EXTERNAL_ID = "external_id", "Customer's own id"
    ALIAS = "alias", "Another name"


class StepState(TextChoices):
    WAITING = "waiting", "Waiting"
    DONE = "done", "Done"
    SKIPPED = "skipped", "Done, something kept"
    FAILED = "failed", "Failed"
    REQUESTED = "requested", "Requested, unconfirmed"


class CopyState(TextChoices):
    REQUESTED = "requested", "Requested, unconfirmed"
    CONFIRMED = "confirmed", "Confirmed"
    REFUSED = "refused", "Refused"
