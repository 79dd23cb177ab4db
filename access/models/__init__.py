from access.models.log import AccessEntry, StatedReason
from access.models.realm import Realm
from access.models.staff import Right, StaffMember, StaffRealm

__all__ = ["AccessEntry", "Realm", "Right", "StaffMember", "StaffRealm", "StatedReason"]
