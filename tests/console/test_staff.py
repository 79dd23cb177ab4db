import pytest
from django.contrib.auth.models import AnonymousUser, Group, User
from django.test import Client
from django.utils import timezone

from access.models import Realm, StaffMember, StaffRealm
from console.staff import StaffStanding, standing_of, switch_single_keys

pytestmark = pytest.mark.django_db


@pytest.fixture
def maja() -> User:
    return User.objects.create_user("maja", is_staff=True, first_name="Maja", last_name="Lind")


def give_realms(user: User, *slugs: str) -> None:
    member = StaffMember.objects.create(user=user)
    for slug in slugs:
        realm = Realm.objects.create(slug=slug, name=slug, created_at=timezone.now())
        StaffRealm.objects.create(member=member, realm=realm)


def test_the_header_names_realms_and_roles_in_one_query(maja, django_assert_num_queries):
    give_realms(maja, "wendelmere-us", "wendelmere-eu")
    maja.groups.set([Group.objects.get_or_create(name=name)[0] for name in ("support", "finance_approver")])

    with django_assert_num_queries(1):
        standing = standing_of(maja)

    assert standing == StaffStanding(("wendelmere-eu", "wendelmere-us"), "Finance approver, support", True)


def test_who_sees_every_realm_is_told_so(maja):
    StaffMember.objects.create(user=maja, sees_all_realms=True)

    assert standing_of(maja).realms == ("every realm",)


def test_a_user_without_a_realm_and_a_visitor_have_no_standing(maja):
    assert standing_of(maja) == StaffStanding()
    assert standing_of(AnonymousUser()) == StaffStanding()


def test_the_header_and_the_printed_foot_name_the_realm(client, maja):
    give_realms(maja, "wendelmere-eu")
    client.force_login(maja)

    page = client.get("/admin/").content.decode()

    assert '<span class="realm" title="You see accounts of this realm">wendelmere-eu</span>' in page
    assert "Counterfoil, wendelmere-eu. Printed by Maja Lind on " in page
    assert 'data-on="yes" data-url="/keys/"' in page


def test_single_keys_are_kept_for_their_user_and_nobody_else(client, maja):
    other = User.objects.create_user("owen", is_staff=True)
    StaffMember.objects.create(user=other)
    client.force_login(maja)

    assert client.post("/keys/", {"on": "no"}).status_code == 204

    assert standing_of(maja) == StaffStanding(uses_single_keys=False)
    assert standing_of(other).uses_single_keys
    assert 'data-on="no"' in client.get("/admin/").content.decode()


def test_switching_keys_back_on_leaves_the_realms_alone(maja):
    give_realms(maja, "wendelmere-eu")

    switch_single_keys(user=maja, is_on=False)
    switch_single_keys(user=maja, is_on=True)

    assert standing_of(maja) == StaffStanding(("wendelmere-eu",), "", True)


def test_only_staff_may_switch_and_only_to_on_or_off(client, maja):
    assert client.post("/keys/", {"on": "no"}).url == "/admin/login/?next=/keys/"
    client.force_login(User.objects.create_user("customer"))
    assert client.post("/keys/", {"on": "no"}).status_code == 403
    client.force_login(maja)
    assert client.post("/keys/", {"on": "maybe"}).status_code == 400
    assert client.get("/keys/").status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(maja)
    assert strict.post("/keys/", {"on": "no"}).status_code == 403

    assert not StaffMember.objects.exists()
