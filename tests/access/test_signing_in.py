from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice

from access.models import AccessEntry
from access.second_factor import renew_recovery_codes
from tests.access.codes import code_of, wrong_code
from tests.access.conftest import PASSWORD

pytestmark = pytest.mark.django_db


def sign_in(client, name="maja", password=PASSWORD, following=""):
    return client.post("/admin/login/", {"username": name, "password": password, "next": following})


def logged():
    return list(AccessEntry.objects.order_by("id").values_list("action", "actor_id", "target_id", "address"))


@pytest.fixture
def authenticator(make_staff):
    return TOTPDevice.objects.create(user=make_staff(), name="authenticator")


def test_a_password_is_enough_where_there_is_no_second_factor(client, make_staff):
    user = make_staff()

    answer = sign_in(client, following="/second-factor/")

    assert (answer.status_code, answer.url) == (302, "/second-factor/")
    assert client.session["_auth_user_id"] == str(user.pk)
    assert logged() == [("sign_in", str(user.pk), str(user.pk), "127.0.0.1")]


def test_it_leads_nowhere_else(client, make_staff):
    make_staff()

    assert sign_in(client, following="https://elsewhere.example/").url == settings.LOGIN_REDIRECT_URL


def test_a_wrong_password_is_said_and_logged_without_what_was_typed(client, make_staff):
    user = make_staff()

    answer = sign_in(client, password="wrong")
    nobody = sign_in(client, name="hunter2 typed in the wrong field", password="x")

    assert "The user name or the password is wrong" in answer.content.decode()
    assert nobody.status_code == 200
    assert "_auth_user_id" not in client.session
    assert logged() == [
        ("sign_in_failed", "", str(user.pk), "127.0.0.1"),
        ("sign_in_failed", "", "", "127.0.0.1"),
    ]


def test_who_is_not_staff_does_not_get_in(client):
    User.objects.create_user("customer", password=PASSWORD)

    assert sign_in(client, name="customer").status_code == 200
    assert "_auth_user_id" not in client.session


def test_after_too_many_failures_even_the_right_password_waits(client, make_staff, settings):
    make_staff()
    settings.AXES_FAILURE_LIMIT = 3
    answers = [sign_in(client, password="wrong") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    paused = sign_in(client)

    assert paused.status_code == 429
    assert "Sign-in opens again 15 minutes after the last failure" in paused.content.decode()
    assert "_auth_user_id" not in client.session
    assert [action for action, *_ in logged()] == ["sign_in_failed"] * 4


def test_a_pause_is_for_the_user_name_from_any_address_and_for_the_address(client, make_staff, settings):
    make_staff()
    make_staff("owen")
    settings.AXES_FAILURE_LIMIT = 2
    for _ in range(2):
        sign_in(client, password="wrong")

    elsewhere = {"username": "maja", "password": PASSWORD}
    assert client.post("/admin/login/", elsewhere, REMOTE_ADDR="203.0.113.9").status_code == 429
    assert sign_in(client, name="owen").status_code == 429
    other = {"username": "owen", "password": PASSWORD}
    assert client.post("/admin/login/", other, REMOTE_ADDR="203.0.113.9").status_code == 302


def test_a_second_factor_is_asked_for_before_anything_opens(client, authenticator):
    answer = sign_in(client, following="/second-factor/")

    assert answer.url == "/sign-in/code/?next=%2Fsecond-factor%2F"
    assert "_auth_user_id" not in client.session
    assert logged() == []

    answer = client.post(answer.url, {"code": code_of(authenticator)})

    assert answer.url == "/second-factor/"
    assert client.get("/second-factor/").status_code == 200
    assert [action for action, *_ in logged()] == ["sign_in"]


def test_a_code_works_once_and_a_wrong_one_makes_the_next_wait(client, authenticator):
    sign_in(client)
    wrong = client.post("/sign-in/code/", {"code": wrong_code(authenticator)}).content.decode()
    waits = client.post("/sign-in/code/", {"code": code_of(authenticator)}).content.decode()

    assert "This code is wrong, was used before, or has run out." in wrong
    assert "Too many wrong codes. The next one is looked at in 1 s; this one was not." in waits
    assert "_auth_user_id" not in client.session
    assert [action for action, *_ in logged()] == ["sign_in_failed"] * 2


def test_a_used_code_is_not_taken_again(client, authenticator):
    code = code_of(authenticator)
    sign_in(client)
    client.post("/sign-in/code/", {"code": code})
    client.post("/admin/logout/")

    sign_in(client)
    client.post("/sign-in/code/", {"code": code})

    assert "_auth_user_id" not in client.session


def test_five_wrong_codes_ask_for_the_password_again(client, authenticator):
    sign_in(client)
    for _ in range(4):
        assert client.post("/sign-in/code/", {"code": "x"}).status_code == 200

    assert client.post("/sign-in/code/", {"code": "x"}).url.startswith("/admin/login/")
    assert client.get("/sign-in/code/").url.startswith("/admin/login/")


def test_the_code_page_forgets_a_password_after_five_minutes(client, authenticator, monkeypatch):
    sign_in(client)
    later = timezone.now() + timedelta(minutes=6)
    monkeypatch.setattr("access.views.sign_in.timezone.now", lambda: later)

    assert client.get("/sign-in/code/").url.startswith("/admin/login/")


def test_a_recovery_code_works_once_in_place_of_the_authenticator(client, authenticator):
    first, second = renew_recovery_codes(user=authenticator.user)[:2]
    sign_in(client)

    assert client.post("/sign-in/code/", {"code": first.upper()}).status_code == 302
    assert "_auth_user_id" in client.session
    client.post("/admin/logout/")
    sign_in(client)

    assert client.post("/sign-in/code/", {"code": first}).status_code == 200
    assert "_auth_user_id" not in client.session
    assert second not in {token.token for token in authenticator.user.staticdevice_set.get().token_set.all()}


def test_signing_out_is_logged(client, make_staff):
    user = make_staff()
    sign_in(client)

    answer = client.post("/admin/logout/")

    assert answer.url == "/admin/login/"
    assert [row[:2] for row in logged()] == [("sign_in", str(user.pk)), ("sign_out", str(user.pk))]
