from access.models.api_key import ApiKey, Scope
from access.models.log import AccessEntry, LogFloor, StatedReason
from access.models.realm import Realm
from access.models.staff import Right, StaffMember, StaffRealm
from access.models.stored_answer import StoredAnswer

__all__ = [
    "AccessEntry",
    "ApiKey",
    "LogFloor",
    "Realm",
    "Right",
    "Scope",
    "StaffMember",
    "StaffRealm",
    "StatedReason",
    "StoredAnswer",
]
