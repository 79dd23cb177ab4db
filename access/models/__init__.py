from access.models.log import AccessEntry, LogFloor, StatedReason
from access.models.realm import Realm
from access.models.staff import Right, StaffMember, StaffRealm

__all__ = ["AccessEntry", "LogFloor", "Realm", "Right", "StaffMember", "StaffRealm", "StatedReason"]
