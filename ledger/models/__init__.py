from ledger.models.compensation import Compensation, CompensationNote, Dispute
from ledger.models.contradiction import Contradiction
from ledger.models.effect import EffectMove, EffectReference, EffectUse, ToolEffect
from ledger.models.finding import Alert, Finding, FindingComment, FindingEvent
from ledger.models.reconciliation import (
    MatchDecision,
    ReconciliationPolicy,
    ReconciliationRun,
    RunInput,
    RunRow,
    Sighting,
)
from ledger.models.statement import Statement, StatementLine
from ledger.models.tool import GuardQuestion, ToolPolicy, ToolPolicyChange
from ledger.models.version import CompensationVersion, DisputeVersion
from ledger.models.webhook import WebhookEvent

__all__ = [
    "Alert",
    "Compensation",
    "CompensationNote",
    "CompensationVersion",
    "Contradiction",
    "Dispute",
    "DisputeVersion",
    "EffectMove",
    "EffectReference",
    "EffectUse",
    "Finding",
    "FindingComment",
    "FindingEvent",
    "GuardQuestion",
    "MatchDecision",
    "ReconciliationPolicy",
    "ReconciliationRun",
    "RunInput",
    "RunRow",
    "Sighting",
    "Statement",
    "StatementLine",
    "ToolEffect",
    "ToolPolicy",
    "ToolPolicyChange",
    "WebhookEvent",
]
