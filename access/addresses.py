"""The address that a request came from, as the access log and the throttle of sign-ins take it."""

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest


def address_of(request: HttpRequest) -> str | None:
    """Return the client's address, or None where it cannot be told.

    Each proxy of ours appends whom it spoke to, so of `X-Forwarded-For` only the last
    entries are ours to believe; what stands before them was written by the client.
    """
    count = settings.PROXIES_IN_FRONT
    if not count:
        return _read(request.META.get("REMOTE_ADDR", ""))
    hops = request.headers.get("X-Forwarded-For", "").split(",")
    return _read(hops[-count]) if len(hops) >= count else None


def _read(text: str) -> str | None:
    try:
        return str(ip_address(text.strip()))
    except ValueError:
        return None
