from retention.models.archive_return import ArchiveReturn
from retention.models.doomed import DoomedFile
from retention.models.erasure import (
    ErasureAccount,
    ErasureIdentifier,
    ErasureNote,
    ErasureReceipt,
    ErasureRequest,
    ErasureStep,
    HostedCopy,
)
from retention.models.hold import HoldEvent, HoldNote, LegalHold
from retention.models.policy import RetentionPolicy
from retention.models.rollup import GenerationRollup, ToolRollup

__all__ = [
    "ArchiveReturn",
    "DoomedFile",
    "ErasureAccount",
    "ErasureIdentifier",
    "ErasureNote",
    "ErasureReceipt",
    "ErasureRequest",
    "ErasureStep",
    "GenerationRollup",
    "HoldEvent",
    "HoldNote",
    "HostedCopy",
    "LegalHold",
    "RetentionPolicy",
    "ToolRollup",
]
