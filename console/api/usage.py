"""`GET /usage`: attempts, tokens and cost over a period, from the same sums as the console's page."""

from typing import Any, ClassVar, Final

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope
from console.api.periods import PeriodAnswer, PeriodQuery, read_period, told_period
from console.cost_pages.sums import MOST, CostLine, Cut, read_lines, read_whole

_CUTS: Final = {
    "day": Cut.DAY,
    "model": Cut.MODEL,
    "provider": Cut.PROVIDER,
    "tool": Cut.TOOL,
    "prompt_version": Cut.PROMPT,
    "account": Cut.ACCOUNT,
}


class CostField(serializers.DecimalField):
    """US dollars, with all their decimals and never rounded."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_digits=None, decimal_places=None, **options)


class SumAnswer(serializers.Serializer):
    """One sum. Tokens and attempts of failed requests are in it, as the provider counts them."""

    attempts = serializers.IntegerField()
    failed = serializers.IntegerField(help_text="Failed, refused, cut off or cancelled.")
    input_tokens = serializers.IntegerField(source="tokens_in", help_text="Cached ones too.")
    output_tokens = serializers.IntegerField(source="tokens_out")
    cost_usd = CostField(source="cost")
    failed_cost_usd = CostField(source="failed_cost")
    without_price = serializers.IntegerField(source="unknown", help_text="Attempts whose cost nobody knows.")


class UsageLineAnswer(SumAnswer):
    """The sum of one day, model, provider, tool, prompt version or account."""

    key = serializers.CharField(
        help_text="A day, a name, an account’s external id; empty where there is none, or it was erased."
    )
    provider = serializers.SerializerMethodField(help_text="Of a model; else null.")

    def get_provider(self, line: CostLine) -> str | None:
        return line.second if self.context["by"] == Cut.MODEL else None


class UsageAnswer(PeriodAnswer):
    """The whole, and its parts."""

    by = serializers.ChoiceField(choices=sorted(_CUTS))
    whole = SumAnswer()
    sealed = serializers.IntegerField(
        help_text="Attempts that are known by their totals only: no tool is known of them."
    )
    data = UsageLineAnswer(many=True)  # type: ignore[assignment]  # DRF's own name is of the class
    has_more = serializers.BooleanField(help_text="There are cheaper lines than are listed.")


class UsageQuery(PeriodQuery):
    by = serializers.ChoiceField(choices=list(_CUTS), default="day")


class UsageView(ApiView):
    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="usage",
        summary="Usage and cost",
        tags=["Usage"],
        parameters=[UsageQuery],
        responses=UsageAnswer,
    )
    def get(self, request: Request) -> Response:
        """Attempts, tokens and cost. Days in their order, all else the dearest first.

        By tool an attempt counts for each tool that its answer called, so those lines do not add up to
        the whole.
        """
        by = self.read_query(UsageQuery)["by"]
        period, cut, reach = (
            read_period(request.query_params, now=self.now),
            _CUTS[by],
            self.application.reach,
        )
        whole, sealed = read_whole(period=period, reach=reach)
        lines = read_lines(period=period, reach=reach, cut=cut)
        said = {
            **told_period(period),
            "by": by,
            "whole": whole,
            "sealed": sealed,
            "data": lines,
            "has_more": cut != Cut.DAY and len(lines) == MOST,
        }
        return Response(UsageAnswer(said, context={"by": cut}).data)
