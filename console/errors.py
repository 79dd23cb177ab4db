"""The pages shown when a request is refused or fails. They ask nothing of the database.

Each says what did not happen, what is still true, and the id of the request: it is in the log, and in
the header `X-Request-Id`, from where a part of a page that failed to load shows it.
"""

import structlog
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.csrf import requires_csrf_token

from access.request_ids import request_id_of

log = structlog.get_logger(__name__)


@requires_csrf_token
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, status=400, exception=exception)


@requires_csrf_token
def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, status=403, exception=exception, why=str(exception))


@requires_csrf_token
def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, status=404, exception=exception)


@requires_csrf_token
def server_error(request: HttpRequest) -> HttpResponse:
    return _page(request, status=500)


def _page(
    request: HttpRequest, *, status: int, exception: Exception | None = None, why: str = ""
) -> HttpResponse:
    # The address may hold what somebody searched for, so only the view's name is logged.
    view = request.resolver_match.view_name if request.resolver_match else ""
    log.warning("page_refused", status=status, view=view, error=type(exception).__name__)
    context = {
        "method": request.method,
        "path": request.path,
        "why": why,
        "when": timezone.now(),
        "zone": timezone.get_current_timezone_name(),
        "reference": request_id_of(request),
    }
    body = render_to_string(f"{status}.html", context)
    return HttpResponse(body, status=status)
