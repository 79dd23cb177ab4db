"""Every refusal as problem details (RFC 9457), with a pointer to the place in the request.

`type` is a URN that ends in a stable code, the same one as `rule`; `place` names the row of the
store that speaks against it, `errors` the members of the body (as JSON pointers, RFC 6901) or,
where a request has no body, the parameters of its address.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import structlog
from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework.exceptions import APIException, Throttled, ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from access.request_ids import request_id_of
from conversations.errors import ConflictError, NotFoundError, StoreError
from conversations.paging import BadCursorError
from jobs.services.starting import OverlapError

MEDIA_TYPE: Final = "application/problem+json"
_WITHOUT_BODY: Final = frozenset({"GET", "HEAD"})
_log = structlog.get_logger(__name__)


class ProblemRenderer(JSONRenderer):
    """JSON under the media type of problem details."""

    media_type = MEDIA_TYPE
    format = "problem"


@dataclass(slots=True)
class Problem:
    """One refusal. `errors` name members of the request's body, or parameters of its address."""

    status: int
    rule: str
    detail: str
    place: str = ""
    errors: list[dict[str, str]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)


def answer_problem(exc: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler. What is no refusal goes on as an error of ours: logged, and a plain 500."""
    request: HttpRequest = context["request"]
    problem = _of_parameters(exc, request) or _problem_of(exc)
    if problem is None:
        _log.exception("request_failed", path=request.path, exc_info=exc)
        problem = server_problem()
    response = Response(
        body_of(problem, request), status=problem.status, headers=problem.headers, content_type=MEDIA_TYPE
    )
    response.exception = True
    return response


def server_problem() -> Problem:
    return Problem(500, "internal-error", "something failed here; the request id leads to what did")


def plain_answer(problem: Problem, request: HttpRequest) -> HttpResponse:
    """The same answer for an address that no view of the API has."""
    return HttpResponse(
        JSONRenderer().render(body_of(problem, request)), status=problem.status, content_type=MEDIA_TYPE
    )


def body_of(problem: Problem, request: HttpRequest) -> dict[str, Any]:
    body: dict[str, Any] = {
        "type": f"urn:counterfoil:problem:{problem.rule}",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": _encodable(problem.detail),
        "instance": request.path,
        "rule": problem.rule,
        "request_id": request_id_of(request),
    }
    if problem.place:
        body["place"] = _encodable(problem.place)
    if problem.errors:
        body["errors"] = [
            {name: _encodable(said) for name, said in error.items()} for error in problem.errors
        ]
    return body


def _encodable(text: str) -> str:
    """A refusal quotes what it refuses, and that may hold half of a surrogate pair."""
    return text.encode(errors="replace").decode()


def _problem_of(exc: Exception) -> Problem | None:
    return _of_ours(exc) or _of_rest_framework(exc) or _of_django(exc)


def _of_parameters(exc: Exception, request: HttpRequest) -> Problem | None:
    """What cannot be taken of a request without a body stands in its address."""
    if not isinstance(exc, ValidationError) or request.method not in _WITHOUT_BODY:
        return None
    errors = [{"parameter": error.pop("pointer").removeprefix("#/"), **error} for error in _errors_of(exc)]
    return Problem(
        exc.status_code,
        "invalid",
        "the address has parameters that cannot be taken; `errors` names each",
        errors=errors,
    )


def _of_ours(exc: Exception) -> Problem | None:
    match exc:
        case StoreError():
            return Problem(_status_of(exc), exc.rule, exc.explanation, exc.place)
        case OverlapError():
            return Problem(409, "job-overlaps", str(exc), f"job {exc.run.pk}")
        case BadCursorError():
            return Problem(400, "cursor-unknown", str(exc))
    return None


def _status_of(exc: StoreError) -> int:
    if isinstance(exc, NotFoundError):
        return 404
    return 409 if isinstance(exc, ConflictError) else 422


def _of_rest_framework(exc: Exception) -> Problem | None:
    match exc:
        case ValidationError():
            return Problem(
                exc.status_code,
                "invalid",
                "the request has members that cannot be taken; `errors` names each",
                errors=_errors_of(exc),
            )
        case Throttled():
            wait = math.ceil(getattr(exc, "wait", None) or 1)
            return Problem(429, "too-many-requests", str(exc.detail), headers={"Retry-After": str(wait)})
        case APIException():
            return _of_one_of_its_own(exc)
    return None


def _of_django(exc: Exception) -> Problem | None:
    match exc:
        case RequestDataTooBig():
            return Problem(413, "body-too-large", str(exc))
        case Http404():
            return Problem(404, "not-found", "there is nothing at this address, or not for this key")
        case DjangoPermissionDenied():
            return Problem(403, "permission-denied", str(exc) or "this is not for this key")
        case SuspiciousOperation():
            return Problem(400, "request-malformed", "the request is malformed")
    return None


def _of_one_of_its_own(exc: APIException) -> Problem:
    headers = {}
    if header := getattr(exc, "auth_header", None):
        headers["WWW-Authenticate"] = header
    if (wait := getattr(exc, "wait", None)) is not None:
        headers["Retry-After"] = str(math.ceil(wait))
    code = exc.get_codes()
    rule = code.replace("_", "-") if isinstance(code, str) else "refused"
    return Problem(exc.status_code, rule, str(exc.detail), place=getattr(exc, "place", ""), headers=headers)


def _errors_of(exc: ValidationError) -> list[dict[str, str]]:
    return list(_errors(exc.get_full_details(), "#"))


def _errors(details: Any, pointer: str) -> Iterator[dict[str, str]]:
    """Walk DRF's nested details; a serializer's own errors stand at the member that it describes."""
    if isinstance(details, dict) and set(details) == {"message", "code"}:
        yield {"pointer": pointer, "rule": str(details["code"]), "detail": str(details["message"])}
    elif isinstance(details, dict):
        for name, inner in details.items():
            step = "" if name == "non_field_errors" else f"/{_escaped(str(name))}"
            yield from _errors(inner, pointer + step)
    elif isinstance(details, list):
        for index, inner in enumerate(details):
            is_leaf = isinstance(inner, dict) and set(inner) == {"message", "code"}
            yield from _errors(inner, pointer if is_leaf else f"{pointer}/{index}")


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
