import re
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

ROLES = ["support", "finance", "finance_approver", "privacy_officer", "auditor", "administrator"]

pytestmark = pytest.mark.django_db


def create_demo_staff():
    said = StringIO()
    call_command("create_demo_staff", stdout=said)
    return said.getvalue()


def test_each_role_gets_one_member_of_staff_whose_printed_password_works():
    lines = create_demo_staff().splitlines()

    assert lines[0] == "Staff of the demo (these passwords are shown only now):"
    passwords = dict(re.split(r"\s+", line.strip()) for line in lines[1:])
    assert list(passwords) == ROLES
    for role, password in passwords.items():
        user = User.objects.get(username=role)
        assert user.check_password(password)
        assert (user.is_staff, user.is_superuser) == (True, False)
        assert [group.name for group in user.groups.all()] == [role]
        assert user.staff_member.sees_all_realms


def test_staff_that_is_there_stays_as_it_is():
    create_demo_staff()
    support = User.objects.get(username="support")
    support.set_password("changed by herself")
    support.save()

    assert create_demo_staff() == ""

    assert User.objects.count() == len(ROLES)
    assert User.objects.get(username="support").check_password("changed by herself")
