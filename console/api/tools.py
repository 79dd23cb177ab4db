"""`GET /tools/statistics`: how calls of tools went, as the console's page of tools has it."""

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope
from console.api.periods import PeriodAnswer, PeriodQuery, read_period, told_period
from console.tool_pages.statistics import MOST_ERRORS, MOST_TOOLS, read_statistics


class ToolAnswer(serializers.Serializer):
    """One tool’s calls in the period."""

    name = serializers.CharField()
    calls = serializers.IntegerField()
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField()
    waiting = serializers.IntegerField(help_text="Neither succeeded nor failed.")
    sealed = serializers.IntegerField(
        help_text="Calls that are known by their totals only, because retention took their rows."
    )
    p50_ms = serializers.IntegerField(
        source="p50", allow_null=True, help_text="Exact over known durations, near where some are sealed."
    )
    p95_ms = serializers.IntegerField(source="p95", allow_null=True)
    retried = serializers.IntegerField(
        help_text="Succeeded after an equal call of the conversation had failed."
    )


class ToolErrorAnswer(serializers.Serializer):
    tool = serializers.CharField()
    code = serializers.CharField(help_text="Empty where the failure named none.")
    calls = serializers.IntegerField()


class ToolDayAnswer(serializers.Serializer):
    day = serializers.DateField()
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField()
    other = serializers.IntegerField()


class ToolStatisticsAnswer(PeriodAnswer):
    """Calls per tool, the most common errors, and days."""

    tools = ToolAnswer(many=True, help_text=f"The most called first, at most {MOST_TOOLS}.")
    errors = ToolErrorAnswer(many=True, help_text=f"The most common first, at most {MOST_ERRORS}.")  # type: ignore[assignment]  # DRF's own name is of the class
    days = ToolDayAnswer(many=True)
    has_more = serializers.BooleanField(help_text="There are more tools than are listed.")


class ToolStatisticsView(ApiView):
    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="tool_statistics",
        summary="Statistics of tools",
        tags=["Usage"],
        parameters=[PeriodQuery],
        responses=ToolStatisticsAnswer,
    )
    def get(self, request: Request) -> Response:
        """Calls, errors, latencies and retries of every tool over a period."""
        period = read_period(request.query_params, now=self.now)
        found = read_statistics(period=period, reach=self.application.reach)
        said = {
            **told_period(period),
            "tools": found.tools,
            "errors": found.errors,
            "days": found.days,
            "has_more": found.has_more,
        }
        return Response(ToolStatisticsAnswer(said).data)
