"""The pages of refusals and failures: what did not work, what is still true, and a reference."""

import re

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.test import Client
from django.urls import path

from config.urls import urlpatterns as product_urls

REFERENCE = re.compile(r'<span class="ident is-full" title="([0-9a-f]{32})">')


def refuse(request):
    raise PermissionDenied("It was you who asked for this refund.\u202e <b>")


def refuse_silently(request):
    raise PermissionDenied


def misunderstand(request):
    raise SuspiciousOperation("secret details")


def fail(request):
    raise RuntimeError("secret details")


urlpatterns = [
    path("refuse/", refuse),
    path("refuse-silently/", refuse_silently),
    path("misunderstand/", misunderstand),
    path("fail/", fail),
    *product_urls,
]
handler400 = "console.errors.bad_request"
handler403 = "console.errors.permission_denied"
handler404 = "console.errors.page_not_found"
handler500 = "console.errors.server_error"

pytestmark = pytest.mark.urls(__name__)


@pytest.fixture
def visitor() -> Client:
    return Client(raise_request_exception=False)


@pytest.mark.parametrize(
    ("address", "status", "heading", "changed"),
    [
        ("/refuse-silently/", 403, "You may not do this", "Nothing"),
        ("/misunderstand/", 400, "This request could not be understood", "Nothing"),
        ("/no/such/page/", 404, "There is nothing at this address", "Nothing"),
        ("/fail/", 500, "This page failed", "Not known: look before you send again"),
    ],
)
def test_a_refusal_says_what_happened_and_what_changed_without_the_database(
    visitor, address, status, heading, changed
):
    response = visitor.get(address)

    page = response.content.decode()
    assert response.status_code == status
    assert f"<h1>{heading}</h1>" in page
    assert f"<dt>What changed</dt><dd>{changed}</dd>" in page
    assert f'<span class="mono">GET <bdi>{address}</bdi></span>' in page
    assert "secret details" not in page
    assert REFERENCE.findall(page) == [response.headers["X-Request-ID"]]


def test_a_refusal_gives_its_reason_as_text(visitor):
    page = visitor.get("/refuse/").content.decode()

    assert (
        '<p class="lead"><bdi>It was you who asked for this refund.'
        '<span class="hidden-mark" title="U+202E, right-to-left override">U+202E</span> &lt;b&gt;</bdi></p>'
    ) in page


def test_an_address_that_is_an_attack_is_shown_as_text(visitor):
    page = visitor.get("/%3Cscript%3E%E2%80%AE/").content.decode()

    assert (
        "<bdi>/&lt;script&gt;"
        '<span class="hidden-mark" title="U+202E, right-to-left override">U+202E</span>/</bdi>'
    ) in page


def test_a_form_without_its_token_says_that_it_is_out_of_date():
    response = Client(enforce_csrf_checks=True).post("/admin/login/", {"username": "maja"})

    assert response.status_code == 403
    assert "<h1>This form is out of date</h1>" in response.content.decode()


@pytest.mark.parametrize("address", ["/refuse/", "/fail/"])
def test_refusals_stand_under_the_same_strict_policy(visitor, address):
    response = visitor.get(address)

    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "<style" not in response.content.decode()
    assert " style=" not in response.content.decode()


def test_a_refusal_has_the_search_box_that_it_speaks_of(visitor):
    page = visitor.get("/no/such/page/").content.decode()

    assert "An id from a ticket finds its place through the search box." in page
    assert '<form action="/search/" method="get">' in page
    assert '<input type="search" id="q" name="q" value=""' in page
