"""The closed lists of statements; each has a CHECK of the same values in the database."""

from django.db.models import TextChoices


class StatementFormat(TextChoices):
    """What a statement was read from; one module of `formats` each, but for the processor's own lists."""

    STRIPE_PAYMENTS = "stripe_payments", "Stripe, payments export"
    STRIPE_BALANCE = "stripe_balance", "Stripe, balance history"
    STRIPE_ITEMISED = "stripe_itemised", "Stripe, itemised report"
    PLAIN_CSV = "plain_csv", "Plain CSV"
    API = "api", "The processor's lists"


class LineKind(TextChoices):
    """What a line says moved. Amounts carry the sign that they have for the merchant.

    `release` is the rest of an authorisation, let go when a part was captured.
    """

    CHARGE = "charge"
    REFUND = "refund"
    REFUND_FAILURE = "refund_failure"
    RELEASE = "release"
    DISPUTE = "dispute"
    DISPUTE_REVERSAL = "dispute_reversal"
    OTHER = "other"


class LineStatus(TextChoices):
    """Whether a line's money has moved."""

    DONE = "done"
    PENDING = "pending"
    FAILED = "failed"


class AmountStyle(TextChoices):
    """How a format writes amounts: 1999 (minor) or 19.99 (major)."""

    MINOR = "minor"
    MAJOR = "major"
