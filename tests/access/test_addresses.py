import pytest
from django.test import RequestFactory

from access.addresses import address_of


def asked(forwarded=None, **meta):
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    return RequestFactory().get("/", headers=headers, **meta)


def test_without_a_proxy_the_address_is_that_of_the_connection(settings):
    settings.PROXIES_IN_FRONT = 0

    assert address_of(asked("203.0.113.9", REMOTE_ADDR="198.51.100.4")) == "198.51.100.4"
    assert address_of(asked(REMOTE_ADDR="")) is None


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (1, "198.51.100.4", "198.51.100.4"),
        (1, "10.9.9.9, 198.51.100.4", "198.51.100.4"),
        (2, "10.9.9.9, 198.51.100.4, 192.0.2.1", "198.51.100.4"),
        (1, " 2001:DB8::1 ", "2001:db8::1"),
        (2, "198.51.100.4", None),
        (1, "unknown", None),
        (1, "", None),
    ],
)
def test_behind_proxies_only_what_they_wrote_counts(settings, proxies, forwarded, address):
    settings.PROXIES_IN_FRONT = proxies

    assert address_of(asked(forwarded, REMOTE_ADDR="192.0.2.7")) == address
