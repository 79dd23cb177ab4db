import secrets
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.management.base import BaseCommand
from django.db import transaction

# One user for each role, named like the group that the role is.
ROLES = ("support", "finance", "finance_approver", "privacy_officer", "auditor", "administrator")


class Command(BaseCommand):
    help = "Create one staff user for each role, and print their passwords: once, as they are made."

    def handle(self, *args: Any, **options: Any) -> None:
        made = [(name, password) for name in ROLES if (password := create_staff_user(name=name))]
        if not made:
            return
        self.stdout.write("Staff of the demo (these passwords are shown only now):")
        for name, password in made:
            self.stdout.write(f"    {name:<18}{password}")


@transaction.atomic
def create_staff_user(*, name: str) -> str | None:
    """Create a staff user in the group of that name, if there is one; return the password.

    None where the user exists: a password that somebody changed stays changed.
    """
    user, is_new = User.objects.get_or_create(username=name, defaults={"is_staff": True})
    user.groups.add(*Group.objects.filter(name=name))
    if not is_new:
        return None
    password = secrets.token_urlsafe(12)
    user.set_password(password)
    user.save(update_fields=["password"])
    return password
