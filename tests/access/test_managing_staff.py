import pytest
from axes.models import AccessAttempt
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.urls import reverse
from django.utils.html import strip_tags
from django_otp.plugins.otp_totp.models import TOTPDevice

from access.models import AccessEntry, Realm, StaffMember
from access.rights import RightName, RoleName
from tests.access.conftest import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager(client, make_staff):
    user = make_staff("ada", role="administrator")
    client.force_login(user)
    return user


@pytest.fixture
def eu():
    return Realm.objects.create(slug="eu", name="Europe", created_at="2026-11-24T14:05:00Z")


def change_form(user, *, groups=(), sees_all=False, realms=(), **fields):
    member = StaffMember.objects.get(user=user)
    data = {
        "username": user.username,
        "is_active": "on",
        "is_staff": "on",
        "groups": [group.pk for group in groups],
        "staff_member-TOTAL_FORMS": "1",
        "staff_member-INITIAL_FORMS": "1",
        "staff_member-0-id": member.pk,
        "staff_member-0-user": user.pk,
        "staff_member-0-realms": [realm.pk for realm in realms],
    }
    if sees_all:
        data["staff_member-0-sees_all_realms"] = "on"
    return data | fields


def address(user):
    return reverse("admin:auth_user_change", args=[user.pk])


def test_whoever_manages_staff_gives_roles_and_realms_which_is_logged_twice(client, manager, make_staff, eu):
    owen = make_staff("owen", role="")

    answer = client.post(
        address(owen), change_form(owen, groups=[Group.objects.get(name="support")], realms=[eu])
    )

    assert answer.status_code == 302
    owen = User.objects.get(username="owen")
    assert [group.name for group in owen.groups.all()] == ["support"]
    assert not owen.staff_member.sees_all_realms
    assert [row.realm for row in owen.staff_member.realms.all()] == [eu]
    assert LogEntry.objects.get().object_id == str(owen.pk)
    line = AccessEntry.objects.get()
    assert (line.action, line.actor_id, line.target_id) == ("change", str(manager.pk), str(owen.pk))


def test_realms_are_taken_away_the_same_way(client, manager, make_staff, eu):
    owen = make_staff("owen", realms=(eu,))

    client.post(address(owen), change_form(owen))

    assert not owen.staff_member.realms.exists()


def test_a_new_user_is_staff_and_sees_no_realm(client, manager):
    form = {
        "username": "nils",
        "usable_password": "true",
        "password1": "a long enough secret",
        "password2": "a long enough secret",
        "staff_member-TOTAL_FORMS": "0",
        "staff_member-INITIAL_FORMS": "0",
    }

    assert client.post(reverse("admin:auth_user_add"), form).status_code == 302

    nils = User.objects.get(username="nils")
    assert (nils.is_staff, nils.is_superuser, nils.groups.count()) == (True, False, 0)
    assert not StaffMember.objects.filter(user=nils, sees_all_realms=True).exists()


@pytest.mark.parametrize("target", ["ada", "root"])
def test_nobody_changes_themselves_or_a_superuser(client, manager, make_staff, target):
    User.objects.create_superuser("root")
    StaffMember.objects.create(user=User.objects.get(username="root"))
    user = User.objects.get(username=target)
    approver = Group.objects.get(name="finance_approver")

    assert client.post(address(user), change_form(user, groups=[approver])).status_code == 403
    password = reverse("admin:auth_user_password_change", args=[user.pk])
    assert client.post(password, {"password1": "x" * 20, "password2": "x" * 20}).status_code == 403

    assert approver not in user.groups.all()
    assert AccessEntry.objects.filter(action="refused").count() == 2


def test_managers_read_their_own_roles_and_realms(client, make_staff, eu):
    manager = make_staff("ada", role="administrator", realms=(eu,))
    client.force_login(manager)

    page = client.get(address(manager))

    assert page.status_code == 200
    assert "Realms: Europe" in " ".join(strip_tags(page.content.decode()).split())
    assert page.context["inline_admin_formsets"][0].has_change_permission is False


def test_only_a_superuser_makes_superusers(client, manager, make_staff):
    owen = make_staff("owen")

    client.post(address(owen), change_form(owen, is_superuser="on"))

    assert not User.objects.get(username="owen").is_superuser


def test_roles_are_seen_by_managers_and_changed_by_superusers(client, manager):
    group = Group.objects.get(name="administrator")
    page = reverse("admin:auth_group_change", args=[group.pk])
    before = group.permissions.count()

    assert client.get(page).status_code == 200
    assert client.post(page, {"name": "administrator", "permissions": []}).status_code == 403
    assert client.get(reverse("admin:auth_group_add")).status_code == 403

    assert group.permissions.count() == before


def test_nobody_is_deleted_not_even_by_a_superuser(client, make_staff):
    client.force_login(User.objects.create_superuser("root"))
    owen = make_staff("owen")

    assert client.post(reverse("admin:auth_user_delete", args=[owen.pk]), {"post": "yes"}).status_code == 403
    client.post(
        reverse("admin:auth_user_changelist"),
        {"action": "delete_selected", "_selected_action": [owen.pk], "post": "yes"},
    )

    assert User.objects.filter(pk=owen.pk).exists()


def test_who_is_made_inactive_is_out_at_once(client, manager, make_staff):
    owen = make_staff("owen")
    other = type(client)()
    other.post("/admin/login/", {"username": "owen", "password": PASSWORD})
    assert other.get("/second-factor/").status_code == 200
    form = change_form(owen)
    del form["is_active"]

    client.post(address(owen), form)

    assert other.get("/second-factor/").status_code == 302
    assert other.post("/admin/login/", {"username": "owen", "password": PASSWORD}).status_code == 200


def act(client, action, *users):
    form = {"action": action, "_selected_action": [user.pk for user in users], "index": "0"}
    return client.post(reverse("admin:auth_user_changelist"), form, follow=True).content.decode()


def test_a_lost_second_factor_is_reset_by_somebody_else(client, manager, make_staff):
    owen = make_staff("owen")
    for user in (owen, manager):
        TOTPDevice.objects.create(user=user, name="authenticator")

    page = act(client, "reset_second_factor", owen, manager)

    assert "The second factor of 1 was reset." in page
    assert "1 left out: yourself, or a superuser." in page
    assert [device.user for device in TOTPDevice.objects.all()] == [manager]
    assert AccessEntry.objects.get(action="change").target_id == str(owen.pk)


def test_a_pause_after_failed_sign_ins_is_ended(client, manager, make_staff, settings):
    settings.AXES_FAILURE_LIMIT = 2
    owen = make_staff("owen")
    other = type(client)()
    for _ in range(2):
        other.post("/admin/login/", {"username": "owen", "password": "wrong"})
    right = {"username": "owen", "password": PASSWORD}
    assert other.post("/admin/login/", right).status_code == 429

    assert "1 can sign in again." in act(client, "end_pause", owen)

    assert not AccessAttempt.objects.exists()
    assert other.post("/admin/login/", right).status_code == 302


@pytest.mark.parametrize("role", [role for role in RoleName.values if role != "administrator"])
def test_no_other_role_gets_at_staff_roles_or_realms(client, make_staff, eu, role):
    client.force_login(make_staff(role=role))
    owen = make_staff("owen")

    for name in ("auth_user", "auth_group", "access_realm"):
        assert client.get(reverse(f"admin:{name}_changelist")).status_code == 403
    assert client.post(address(owen), change_form(owen)).status_code == 403
    assert client.post(reverse("admin:access_realm_add"), {"slug": "x", "name": "x"}).status_code == 403
    act(client, "end_pause", owen)

    assert Realm.objects.count() == 1
    assert AccessEntry.objects.filter(action="refused").count() == 6


def test_secrets_of_second_factors_are_on_no_page(client):
    client.force_login(User.objects.create_superuser("root"))

    for path in ("otp_totp/totpdevice/", "otp_static/staticdevice/", "axes/accessattempt/"):
        assert client.get(f"/admin/{path}").status_code == 404


def test_changes_on_stock_pages_are_read_by_those_who_read_the_log_and_by_nobody_else(client, make_staff):
    page = reverse("admin:admin_logentry_changelist")
    for role in RoleName.values:
        user = make_staff(f"a_{role}", role=role)
        client.force_login(user)
        may = user.has_perm(f"access.{RightName.READ_ACCESS_LOG}")
        assert client.get(page).status_code == (200 if may else 403)


def test_a_realm_keeps_its_slug(client, manager, eu):
    client.post(
        reverse("admin:access_realm_change", args=[eu.pk]), {"slug": "other", "name": "Europe and more"}
    )

    assert Realm.objects.values_list("slug", "name").get() == ("eu", "Europe and more")
