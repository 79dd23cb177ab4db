import secrets
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.management.base import BaseCommand
from django.db import transaction

from access.models import StaffMember
from access.rights import RoleName


class Command(BaseCommand):
    help = "Create one staff user for each role, and print their passwords: once, as they are made."

    def handle(self, *args: Any, **options: Any) -> None:
        made = [(role, password) for role in RoleName.values if (password := create_staff_user(role=role))]
        if not made:
            return
        self.stdout.write("Staff of the demo (these passwords are shown only now):")
        for role, password in made:
            self.stdout.write(f"    {role:<18}{password}")


@transaction.atomic
def create_staff_user(*, role: str) -> str | None:
    """Create a staff user of that name and role, who sees every realm; return the password.

    None where the user exists: whatever was changed about it stays changed.
    """
    if User.objects.filter(username=role).exists():
        return None
    password = secrets.token_urlsafe(12)
    user = User.objects.create_user(role, password=password, is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    StaffMember.objects.create(user=user, sees_all_realms=True)
    return password
