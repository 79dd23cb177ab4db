"""Staff: which realms they see, and the rights that roles are made of."""

from django.conf import settings
from django.db import models

from access.models.realm import Realm
from access.rights import RightName


class Right(models.Model):
    """No table: it carries the permissions that roles give."""

    class Meta:
        managed = False
        default_permissions = ()
        permissions = [(right.value, right.label) for right in RightName]


class StaffMember(models.Model):
    """What is known of a member of staff beyond Django's user.

    Sees the accounts of the realms given to it, or of every realm. Nobody sees any without
    being given it: a user without this row sees none.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="staff_member")
    sees_all_realms = models.BooleanField(default=False)
    uses_single_keys = models.BooleanField(default=True, help_text="Whether j, k, [ and ] work on pages.")

    def __str__(self) -> str:
        return str(self.user)


class StaffRealm(models.Model):
    """A realm that a member of staff sees."""

    member = models.ForeignKey(StaffMember, models.DB_CASCADE, related_name="realms")
    realm = models.ForeignKey(Realm, models.DB_CASCADE, related_name="+", db_index=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["member", "realm"], name="access_staffrealm_once"),
        ]

    def __str__(self) -> str:
        return f"{self.member}: {self.realm}"
