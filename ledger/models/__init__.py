from ledger.models.compensation import Compensation, CompensationNote, Dispute
from ledger.models.contradiction import Contradiction
from ledger.models.effect import EffectMove, EffectReference, EffectUse, ToolEffect
from ledger.models.tool import GuardQuestion, ToolPolicy, ToolPolicyChange
from ledger.models.webhook import WebhookEvent

__all__ = [
    "Compensation",
    "CompensationNote",
    "Contradiction",
    "Dispute",
    "EffectMove",
    "EffectReference",
    "EffectUse",
    "GuardQuestion",
    "ToolEffect",
    "ToolPolicy",
    "ToolPolicyChange",
    "WebhookEvent",
]
