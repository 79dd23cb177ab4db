import pytest
from django.db import DatabaseError
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from access.models import AccessEntry
from access.second_factor import recovery_codes_left, renew_recovery_codes
from tests.access.codes import code_of, wrong_code
from tests.access.conftest import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed_in(client, make_staff):
    make_staff()
    client.post("/admin/login/", {"username": "maja", "password": PASSWORD})
    return client


def enrol(client):
    """Set a second factor up through the pages; return the authenticator and the codes shown."""
    client.get("/second-factor/set-up/")
    device = TOTPDevice.objects.get(confirmed=False)
    page = client.post("/second-factor/set-up/", {"code": code_of(device)})
    return TOTPDevice.objects.get(), page.context["codes"]


def grow_stale(client):
    session = client.session
    session["access.signed_in_at"] -= 600
    session.save()


def test_the_first_code_takes_a_new_authenticator_into_use(signed_in):
    page = signed_in.get("/second-factor/set-up/").content.decode()
    picture = signed_in.get("/second-factor/picture.svg")

    assert '<img src="/second-factor/picture.svg"' in page
    assert (picture["Content-Type"], picture["Cache-Control"].split(",")[0]) == ("image/svg+xml", "max-age=0")
    assert b"style=" not in picture.content

    device, codes = enrol(signed_in)

    assert device.confirmed
    assert len(set(codes)) == 10
    assert recovery_codes_left(user=device.user) == 10
    assert "change" in AccessEntry.objects.values_list("action", flat=True)
    assert signed_in.get("/second-factor/picture.svg").status_code == 404


def test_a_wrong_first_code_changes_nothing_and_keeps_the_secret(signed_in):
    signed_in.get("/second-factor/set-up/")
    waiting = TOTPDevice.objects.get()

    page = signed_in.post("/second-factor/set-up/", {"code": wrong_code(waiting)})

    assert "This is not the device&#x27;s present code" in page.content.decode()
    assert TOTPDevice.objects.get().key == waiting.key
    assert not TOTPDevice.objects.get().confirmed


def test_each_visit_shows_a_new_secret(signed_in):
    signed_in.get("/second-factor/set-up/")
    seen = TOTPDevice.objects.get().key
    signed_in.get("/second-factor/set-up/")

    assert TOTPDevice.objects.get().key != seen


def test_recovery_codes_are_shown_once_and_kept_as_digests(signed_in):
    device, codes = enrol(signed_in)
    kept = list(device.user.staticdevice_set.get().token_set.values_list("token", flat=True))

    assert not set(kept) & {code.replace("-", "") for code in codes}
    assert not any(code in signed_in.get("/second-factor/").content.decode() for code in codes)

    new = signed_in.post("/second-factor/recovery-codes/").context["codes"]
    assert not set(new) & set(codes)
    assert recovery_codes_left(user=device.user) == 10


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("get", "/second-factor/set-up/"),
        ("post", "/second-factor/recovery-codes/"),
        ("post", "/second-factor/remove/"),
    ],
)
def test_changing_it_asks_for_a_fresh_sign_in(signed_in, method, address):
    device, _ = enrol(signed_in)
    grow_stale(signed_in)

    answer = getattr(signed_in, method)(address)

    assert answer.url == "/admin/login/?next=/second-factor/"
    assert "_auth_user_id" not in signed_in.session
    assert TOTPDevice.objects.get() == device
    assert recovery_codes_left(user=device.user) == 10


def test_replacing_the_authenticator_ends_the_sessions_of_the_old_one(signed_in):
    old, _ = enrol(signed_in)
    other = type(signed_in)()
    other.post("/admin/login/", {"username": "maja", "password": PASSWORD})
    TOTPDevice.objects.update(last_t=-1)
    other.post("/sign-in/code/", {"code": code_of(old)})
    assert other.get("/second-factor/").status_code == 200

    signed_in.get("/second-factor/set-up/")
    waiting = TOTPDevice.objects.get(confirmed=False)
    signed_in.post("/second-factor/set-up/", {"code": code_of(waiting)})

    assert other.get("/second-factor/").url.startswith("/admin/login/")
    assert signed_in.get("/second-factor/").status_code == 200
    assert not TOTPDevice.objects.filter(pk=old.pk).exists()


def test_removing_it_ends_the_session(signed_in):
    enrol(signed_in)
    assert "Remove the second factor" in signed_in.get("/second-factor/").content.decode()

    assert signed_in.post("/second-factor/remove/").url == "/admin/login/"
    assert not TOTPDevice.objects.exists()
    assert "_auth_user_id" not in signed_in.session


def test_what_cannot_be_logged_is_not_changed(signed_in, monkeypatch):
    def refuse(**entry):
        raise DatabaseError("the log takes nothing")

    device, _ = enrol(signed_in)
    codes = set(StaticToken.objects.values_list("token", flat=True))
    signed_in.get("/second-factor/set-up/")
    waiting = TOTPDevice.objects.get(confirmed=False)
    monkeypatch.setattr("access.views.second_factor.log_access", refuse)

    for address, form in (
        ("recovery-codes", {}),
        ("remove", {}),
        ("set-up", {"code": code_of(waiting)}),
    ):
        with pytest.raises(DatabaseError):
            signed_in.post(f"/second-factor/{address}/", form)

    assert TOTPDevice.objects.get(confirmed=True) == device
    assert set(StaticToken.objects.values_list("token", flat=True)) == codes


@pytest.mark.parametrize("role", ["support", "finance", "privacy_officer", "auditor", "administrator"])
def test_where_it_is_required_nothing_opens_before_it_is_set_up(client, make_staff, settings, role):
    settings.REQUIRE_SECOND_FACTOR = True
    make_staff(role=role)
    client.post("/admin/login/", {"username": "maja", "password": PASSWORD})

    assert client.get("/admin/").url == "/second-factor/"
    assert client.post("/keys/", {"on": "no"}).status_code == 403
    enrol(client)

    assert client.get("/admin/").status_code == 200
    assert "Remove the second factor" not in client.get("/second-factor/").content.decode()
    assert client.post("/second-factor/remove/").status_code == 403
    assert TOTPDevice.objects.count() == 1


def test_a_role_without_weight_needs_none(client, make_staff, settings):
    settings.REQUIRE_SECOND_FACTOR = True
    make_staff(role="")
    client.post("/admin/login/", {"username": "maja", "password": PASSWORD})

    assert client.get("/admin/").status_code == 200


def test_the_required_factor_binds_sessions_that_were_there_before(client, make_staff, settings):
    client.force_login(make_staff())
    assert client.get("/admin/").status_code == 200

    settings.REQUIRE_SECOND_FACTOR = True

    assert client.get("/admin/").url == "/second-factor/"


def test_a_pending_password_opens_nothing(client, make_staff):
    user = make_staff()
    TOTPDevice.objects.create(user=user, name="authenticator")
    renew_recovery_codes(user=user)
    client.post("/admin/login/", {"username": "maja", "password": PASSWORD})

    for address in ("/admin/", "/second-factor/", "/second-factor/set-up/", "/second-factor/picture.svg"):
        assert client.get(address).url.startswith("/admin/login/")
