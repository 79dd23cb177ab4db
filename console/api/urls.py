"""The addresses of what spans the apps, under the API's version."""

from django.urls import path

from console.api.jobs import JobsView, JobView
from console.api.lookup import LookupView
from console.api.tools import ToolStatisticsView
from console.api.usage import UsageView
from console.api.words import SearchView

urlpatterns = [
    path("lookup", LookupView.as_view(), name="lookup"),
    path("search", SearchView.as_view(), name="search"),
    path("usage", UsageView.as_view(), name="usage"),
    path("tools/statistics", ToolStatisticsView.as_view(), name="tool-statistics"),
    path("jobs", JobsView.as_view(), name="jobs"),
    path("jobs/<uuid:run_id>", JobView.as_view(), name="job"),
]
