"""The addresses of the HTTP API. The version stands in the path; docs/api.md says when it changes."""

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

import config.api.schema  # noqa: F401 -- describes the keys to drf-spectacular
from access.api.key import KeyView
from config.api.problems import Problem, plain_answer
from conversations.api.exchanges import ExchangesView

VERSION_1: list[URLPattern | URLResolver] = [
    path("key", KeyView.as_view(), name="key"),
    path("", include("conversations.api.urls")),
    path("", include("ledger.api.urls")),
    path("", include("retention.api.urls")),
    path("", include("console.api.urls")),
    path("exchanges", ExchangesView.as_view(), name="exchanges"),
]


@csrf_exempt
def not_there(request: HttpRequest) -> HttpResponse:
    """An address that the API does not have: a problem, not the console's page."""
    return plain_answer(Problem(404, "no-such-address", "the API has no such address"), request)


urlpatterns: list[URLPattern | URLResolver] = [
    path("v1/", include((VERSION_1, "v1"))),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path(
        "docs/",
        SpectacularSwaggerSplitView.as_view(url_name="api:schema", template_name="api/docs.html"),
        name="docs",
    ),
    re_path(r"", not_there),
]
