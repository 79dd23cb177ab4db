"""Which role gets at which address: walked, so that a new page without a right is found by this file."""

import pytest
from django.contrib.auth.models import Group, User

from access.models import AccessEntry
from access.permissions import DECLARED_RIGHTS
from access.rights import RIGHTS_OF_ROLE, RightName, RoleName
from tests.access.addresses_of_views import of_the_product

pytestmark = pytest.mark.django_db

# Views that ask for no right of staff, each with what guards it instead.
WITHOUT_A_RIGHT = {
    "": "the sign-in and sign-out pages, mounted in place of the admin's",
    "healthz": "tells no details",
    "access:code": "for who has given a password and is not signed in yet",
    "ledger:stripe_webhook": "the processor's signature",
}
# Applications come with a key; tests of the API say what each scope opens.
PREFIXES_OF_THE_API = ("api:", "api-")


def addresses():
    return [
        address
        for address in of_the_product()
        if address.name not in WITHOUT_A_RIGHT and not address.name.startswith(PREFIXES_OF_THE_API)
    ]


def ask(client, address):
    """GET it, or POST where it takes nothing else."""
    answer = client.get(address.path())
    return client.post(address.path()) if answer.status_code == 405 else answer


def test_every_view_declares_the_rights_that_it_checks():
    undeclared = [address.name for address in addresses() if not hasattr(address.view, DECLARED_RIGHTS)]

    assert undeclared == []


@pytest.mark.parametrize("role", RoleName)
def test_a_role_gets_exactly_at_what_its_rights_name(client, make_staff, role):
    user = make_staff(role=role)
    refused = []

    for address in addresses():
        # Anew each time: some of these addresses sign out.
        client.force_login(user)
        answer = ask(client, address)
        may = getattr(address.view, DECLARED_RIGHTS) <= RIGHTS_OF_ROLE[role]
        assert (answer.status_code != 403) == may, (address.name, answer.status_code)
        if not may:
            refused.append((str(user.pk), address.name))

    lines = AccessEntry.objects.filter(action="refused").order_by("id")
    assert list(lines.values_list("actor_id", "target_id")) == refused


def test_who_is_signed_in_but_not_staff_gets_at_nothing(client):
    client.force_login(User.objects.create_user("customer"))

    for address in addresses():
        assert ask(client, address).status_code == 403, address.name


def test_who_is_not_signed_in_is_asked_to(client):
    for address in addresses():
        answer = ask(client, address)
        assert (answer.status_code, answer.url.partition("?")[0]) == (302, "/admin/login/"), address.name

    assert not AccessEntry.objects.exists()


@pytest.mark.parametrize("role", RoleName)
def test_the_groups_are_what_the_code_says(role):
    codenames = Group.objects.get(name=role).permissions.values_list("codename", flat=True)

    assert set(codenames) == {right.value for right in RIGHTS_OF_ROLE[role]}


def test_each_right_belongs_to_a_role():
    assert frozenset().union(*RIGHTS_OF_ROLE.values()) == set(RightName)


def test_nobody_both_asks_for_money_back_and_makes_the_roles():
    for rights in RIGHTS_OF_ROLE.values():
        assert not {RightName.MANAGE_STAFF, RightName.REQUEST_COMPENSATION} <= rights
