"""The closed lists of the reconciliation; each has a CHECK of the same values in the database."""

from django.db.models import TextChoices


class FindingKind(TextChoices):
    """What a run can find; one module of `kinds` each."""

    ABANDONED = "abandoned", "Abandoned charge"
    DUPLICATE = "duplicate", "Duplicate charge"
    STALE_PENDING = "stale_pending", "Sent, answer unknown"
    MISSING_IN_LEDGER = "missing_in_ledger", "Missing in the ledger"
    MISSING_AT_PROCESSOR = "missing_at_processor", "Missing at the processor"
    AMOUNT_DIFFERS = "amount_differs", "Amount differs"
    CURRENCY_DIFFERS = "currency_differs", "Currency differs"
    STATE_DIFFERS = "state_differs", "State differs"
    REFUND_FAILED_LATER = "refund_failed_later", "Refund failed later"
    DISPUTE_OPEN = "dispute_open", "Dispute open"
    CONTRADICTION = "contradiction", "Contradiction"


# Kinds that come from comparing with a statement: only a run that covers their moment can close them.
COMPARED_KINDS = (
    FindingKind.MISSING_IN_LEDGER,
    FindingKind.MISSING_AT_PROCESSOR,
    FindingKind.AMOUNT_DIFFERS,
    FindingKind.CURRENCY_DIFFERS,
    FindingKind.STATE_DIFFERS,
)
# Money that these are about has no known cause.
UNEXPLAINED_KINDS = (
    FindingKind.MISSING_IN_LEDGER,
    FindingKind.MISSING_AT_PROCESSOR,
    FindingKind.AMOUNT_DIFFERS,
    FindingKind.CURRENCY_DIFFERS,
)


class MatchedBy(TextChoices):
    """How a movement at the processor was tied to a row of the ledger."""

    EXTERNAL_ID = "external_id", "External id"
    METADATA = "metadata", "Key in metadata"
    CONFIRMED = "confirmed", "Confirmed by a person"
    SUGGESTED = "suggested", "Suggested, to confirm"
    NOTHING = "nothing", "Unmatched"
    LEDGER_ONLY = "ledger_only", "In the ledger only"
    OTHER_REALM = "other_realm", "Of another realm"
    NOT_COMPARED = "not_compared", "Not about charges"


class FindingState(TextChoices):
    """`closed`: a later run no longer found it. `resolved`: a person settled it."""

    OPEN = "open"
    RESOLVED = "resolved"
    CLOSED = "closed"


class Resolution(TextChoices):
    """How a person settled a finding."""

    REFUNDED = "refunded", "Refunded"
    CORRECTED = "corrected", "Corrected at the processor"
    RECORDED = "recorded", "Recorded in the ledger"
    ACCEPTED = "accepted", "Accepted as it is"
    WRITTEN_OFF = "written_off", "Written off"
    NOT_OURS = "not_ours", "Not about this ledger"
    OTHER = "other", "Another reason"


# Resolutions that leave the difference where it is: a run that finds it unchanged does not reopen it.
STANDING_RESOLUTIONS = (Resolution.ACCEPTED, Resolution.WRITTEN_OFF, Resolution.NOT_OURS)


class FindingAction(TextChoices):
    """What happened to a finding."""

    OPENED = "opened"
    CHANGED = "changed"
    CLOSED = "closed"
    REOPENED = "reopened"
    ASSIGNED = "assigned"
    UNASSIGNED = "unassigned"
    RESOLVED = "resolved"
    COMMENTED = "commented"
    REFUND_ASKED = "refund_asked"


class AlertKind(TextChoices):
    UNEXPLAINED = "unexplained", "New unexplained money"
    FAILED = "failed", "A run failed"
    OVERDUE = "overdue", "A run is overdue"


class AlertChannel(TextChoices):
    WEBHOOK = "webhook"
    EMAIL = "email"
