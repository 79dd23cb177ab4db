"""An id for every request, in its answer and in each line of the log: the caller's own, or a new one."""

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Final
from uuid import uuid4

import structlog
from django.http import HttpRequest, HttpResponse
from django.utils.log import log_response

HEADER: Final = "X-Request-Id"
_FIT = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")


class RequestIds:
    """Stands first, so that whatever is logged on the way carries the id."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get(HEADER, "")
        identity = given if _FIT.match(given) else uuid4().hex
        request.META["counterfoil.request_id"] = identity
        with structlog.contextvars.bound_contextvars(request_id=identity):
            response = self.get_response(request)
            if response.status_code >= HTTPStatus.BAD_REQUEST:
                # Django would write this line once we have returned, without the id.
                log_response(
                    "%s: %s", response.reason_phrase, request.path, response=response, request=request
                )
        response[HEADER] = identity
        return response


def request_id_of(request: HttpRequest) -> str:
    """Return the id that this request goes by; empty outside a web server."""
    return str(request.META.get("counterfoil.request_id", ""))
