"""The closed lists of the ledger; each has a CHECK of the same values in the database."""

from django.db.models import TextChoices


class EffectState(TextChoices):
    """What the processor says became of an effect. `pending` with `sent_at` is "sent, answer unknown"."""

    PENDING = "pending"
    APPLIED = "applied"
    FAILED = "failed"
    COMPENSATED = "compensated"


# Legal moves, from → to; the first move of every effect comes from nothing.
LEGAL_MOVES = (
    ("", EffectState.PENDING),
    (EffectState.PENDING, EffectState.APPLIED),
    (EffectState.PENDING, EffectState.FAILED),
    (EffectState.FAILED, EffectState.APPLIED),
    (EffectState.APPLIED, EffectState.COMPENSATED),
    (EffectState.COMPENSATED, EffectState.APPLIED),
)


class EvidenceSource(TextChoices):
    """Where evidence of a move was seen."""

    BEGIN = "begin"
    ANSWER = "answer"
    WEBHOOK = "webhook"
    RETRIEVE = "retrieve"
    LIST = "list"
    EVENTS = "events"
    STATEMENT = "statement"
    ABSENT = "absent"


class KeyScope(TextChoices):
    """Which repeats of a call are the same operation."""

    CALL = "call"
    CONVERSATION = "conversation"
    BRANCH_ROOT = "branch_root"


class Effectful(TextChoices):
    YES = "yes"
    NO = "no"
    BY_RULE = "by_rule"


class ReplayPolicy(TextChoices):
    """What a re-run of the tool on another branch may do."""

    FREE = "free"
    METERED = "metered"
    ASK = "ask"
    NEVER = "never"


class Operation(TextChoices):
    """What the processor is asked to do."""

    CHARGE = "charge"
    REFUND = "refund"
    OTHER = "other"


class AmountUnit(TextChoices):
    """How a tool's arguments write amounts: 1999 (minor) or "19.99" (major)."""

    MINOR = "minor"
    MAJOR = "major"


class ReferenceKind(TextChoices):
    """What an id of the processor is to the effect. `target` is what a refund gives back."""

    INTENT = "intent"
    CHARGE = "charge"
    REFUND = "refund"
    TARGET = "target"
    OTHER = "other"


class ContradictionKind(TextChoices):
    """What the processor says that no move of a state can express."""

    SECOND_CHARGE = "second_charge"
    FAILED_AFTER_APPLIED = "failed_after_applied"
    OTHER_CURRENCY = "other_currency"
    KEY_REUSED = "key_reused"
    SENT_UNMARKED = "sent_unmarked"
    REFUNDED_PAST_SETTLED = "refunded_past_settled"


class Standing(TextChoices):
    """Where the call of an effect stands in its conversation."""

    LIVE = "live"
    ABANDONED = "abandoned"
    DETACHED = "detached"


class CompensationState(TextChoices):
    REQUESTED = "requested"
    APPROVED = "approved"
    REJECTED = "rejected"
    SENT = "sent"
    SETTLED = "settled"
    FAILED = "failed"


class CompensationOrigin(TextChoices):
    """`processor`: made in the processor's own dashboard, or by anyone but us."""

    COUNTERFOIL = "counterfoil"
    PROCESSOR = "processor"


class CompensationReason(TextChoices):
    DUPLICATE = "duplicate"
    ABANDONED = "abandoned"
    CUSTOMER_REQUEST = "customer_request"
    FRAUD = "fraud"
    ERROR = "error"
    OTHER = "other"


class GuardAnswer(TextChoices):
    """What begin answers; see docs/ledger.md."""

    PROCEED = "proceed"
    RESUME = "resume"
    REPLAY = "replay"
    ASK = "ask"


class GuardReason(TextChoices):
    """Why the guard answered as it did."""

    FIRST = "first"
    NOT_EFFECTFUL = "not_effectful"
    SAME_CALL = "same_call"
    SAME_SCOPE = "same_scope"
    SAME_ARGUMENTS = "same_arguments"
    EARLIER_UNKNOWN = "earlier_unknown"
    KEY_EXPIRED = "key_expired"
    NEVER_AGAIN = "never_again"
    UNREGISTERED = "unregistered"
    ALLOWED = "allowed"
