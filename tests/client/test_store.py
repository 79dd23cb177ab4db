"""What the recorder makes of an answer: stored, refused for ever, or not now."""

import httpx2
import pytest

from counterfoil_recorder.store import Refused, Stored, Unavailable, read_answer


def problem(status, rule, **headers):
    return httpx2.Response(
        status,
        json={"rule": rule, "detail": "…"},
        headers={"Content-Type": "application/problem+json", **headers},
    )


def page(status):
    return httpx2.Response(status, html="<h1>Something else</h1>")


@pytest.mark.parametrize("status", [400, 404, 409, 413, 415, 422])
def test_what_the_store_refuses_is_refused_by_its_rule(status):
    answer = read_answer(problem(status, "some-rule"))
    assert isinstance(answer, Refused)
    assert answer.rule == "some-rule"


@pytest.mark.parametrize("status", [200, 301, 400, 404, 409, 415, 422, 502, 503])
def test_what_another_server_says_is_neither_a_receipt_nor_a_refusal(status):
    """A proxy, or Django itself where the host name is not allowed: the exchange has to wait."""
    assert isinstance(read_answer(page(status)), Unavailable)


def test_what_a_proxy_finds_too_large_stays_so():
    assert isinstance(read_answer(page(413)), Refused)


def test_an_address_that_the_store_does_not_have_is_no_refusal():
    assert isinstance(read_answer(problem(404, "no-such-address")), Unavailable)


@pytest.mark.parametrize("status", [401, 403, 429, 500])
def test_what_will_pass_is_waited_for(status):
    answer = read_answer(problem(status, "some-rule", **{"Retry-After": "7"}))
    assert answer == Unavailable(f"{status} some-rule", wait=7.0)


@pytest.mark.parametrize(("status", "was_known"), [(201, False), (200, True)])
def test_what_is_stored_says_whether_it_was_known(status, was_known):
    assert read_answer(httpx2.Response(status, json={"exchange_id": "x"})) == Stored(was_known=was_known)


@pytest.mark.parametrize("asked", ["", "Wed, 21 Oct 2026 07:28:00 GMT", "-1", "1.5", b"\xb2"])
def test_a_wait_that_is_no_number_of_seconds_is_none(asked):
    response = httpx2.Response(503, headers={"Retry-After": asked})
    assert read_answer(response) == Unavailable("503", wait=None)
