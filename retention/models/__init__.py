from retention.models.doomed import DoomedFile
from retention.models.hold import HoldEvent, HoldNote, LegalHold
from retention.models.policy import RetentionPolicy
from retention.models.rollup import GenerationRollup, ToolRollup

__all__ = [
    "DoomedFile",
    "GenerationRollup",
    "HoldEvent",
    "HoldNote",
    "LegalHold",
    "RetentionPolicy",
    "ToolRollup",
]
