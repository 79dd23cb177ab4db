"""What is answered where a request is refused or fails outside of every view: to programs in their form."""

from django.http import HttpRequest, HttpResponse

from config.api.problems import Problem, plain_answer, server_problem
from console import errors as pages

_MALFORMED = Problem(400, "request-malformed", "the request is malformed, or names a host that is not served")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return (
        plain_answer(_MALFORMED, request)
        if _is_of_a_program(request)
        else pages.bad_request(request, exception)
    )


def server_error(request: HttpRequest) -> HttpResponse:
    return (
        plain_answer(server_problem(), request) if _is_of_a_program(request) else pages.server_error(request)
    )


def _is_of_a_program(request: HttpRequest) -> bool:
    return request.path.startswith("/api/v")
