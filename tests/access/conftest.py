from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User

from access.models import StaffMember, StaffRealm
from tests.access.tenants import Tenant

PASSWORD = "correct horse battery"


@pytest.fixture
def make_staff(db: None) -> Callable[..., User]:
    """Make a member of staff of one role, who sees every realm, or those given."""

    def make(name: str = "maja", *, role: str = "support", realms: tuple = ()) -> User:
        user = User.objects.create_user(name, password=PASSWORD, is_staff=True)
        if role:
            user.groups.add(Group.objects.get(name=role))
        member = StaffMember.objects.create(user=user, sees_all_realms=not realms)
        for realm in realms:
            StaffRealm.objects.create(member=member, realm=realm)
        return user

    return make


@pytest.fixture
def eu() -> Tenant:
    return Tenant("eu")


@pytest.fixture
def us() -> Tenant:
    return Tenant("us")
