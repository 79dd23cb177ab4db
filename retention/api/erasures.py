"""Erasure requests: an application takes one in and follows it; two people decide, in the console."""

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

import django_filters
from django.db.models import Prefetch
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from access.api.views import ApiView
from access.models import Scope
from conversations.api.listing import (
    filter_parameters,
    filtered,
    list_answer,
    list_of,
    page_of,
    page_parameters,
)
from conversations.api.parsing import ExactJsonParser
from conversations.errors import NotFoundError
from conversations.models import Account
from jobs.models import JobRun
from retention.api.shapes import ErasureAnswer, ErasureSummaryAnswer, IntakeRequest, ReceiptAnswer
from retention.erasure.job import ERASE
from retention.models import ErasureReceipt, ErasureRequest, ErasureStep
from retention.services.erasing import find_request
from retention.services.taking_in import take_in
from retention.vocabulary import RequestState


class ErasureFilter(django_filters.FilterSet):
    state = django_filters.ChoiceFilter(choices=RequestState.choices)
    is_finished = django_filters.BooleanFilter(field_name="finished_at", lookup_expr="isnull", exclude=True)

    class Meta:
        model = ErasureRequest
        fields: list[str] = []


class ErasuresView(ApiView):
    scopes: ClassVar = {"GET": Scope.PRIVACY, "POST": Scope.PRIVACY}
    parser_classes = (ExactJsonParser,)

    @extend_schema(
        operation_id="list_erasures",
        summary="List erasure requests",
        tags=["Privacy"],
        parameters=[*filter_parameters(ErasureFilter), *page_parameters()],
        responses=list_of(ErasureSummaryAnswer, name="ErasureList"),
    )
    def get(self, request: Request) -> Response:
        """Requests of the realm, the last received first."""
        rows = filtered(request, ErasureFilter, ErasureRequest.objects.filter(realm_id=self.realm_id))
        page = page_of(request, rows, moment="received_at")
        return Response(list_answer(request, page, list(ErasureSummaryAnswer(page.rows, many=True).data)))

    @extend_schema(
        operation_id="take_in_erasure",
        summary="Take an erasure request in",
        tags=["Privacy"],
        request=IntakeRequest,
        responses={201: ErasureAnswer},
        examples=[
            OpenApiExample("One customer", request_only=True, value={"accounts": ["customer-1042"]}),
        ],
    )
    def post(self, request: Request) -> Response:
        """Open a request about accounts of one person; its clock of 30 days runs from `received_at`.

        Nothing is erased by it: one person checks the identity, another approves. Each account belongs
        to one open request at most (409 `requested`).
        """
        given = self.read_body(IntakeRequest)
        received_at = given.get("received_at") or self.now
        if received_at > self.now:
            raise ValidationError({"received_at": ["This is still to come."]})
        account_ids = self._account_ids(given["accounts"])
        self.concerns(account_ids[0])
        taken = take_in(
            realm_id=self.realm_id,
            account_ids=account_ids,
            aliases=given.get("aliases", ()),
            received_at=received_at,
            key=self.key,
            now=self.now,
            address=self.address,
        )
        location = reverse("api:v1:erasure", args=[taken.number], request=request)
        return Response(_shown(taken), status=201, headers={"Location": location})

    def _account_ids(self, names: Sequence[str]) -> list[UUID]:
        """Find each account by exactly what was said; a name that is nobody's is refused, by its place."""
        found: dict[UUID, None] = {}
        for place, name in enumerate(names):
            account_id = _account_id(name, self.realm_id)
            if account_id is None:
                raise NotFoundError(
                    "no-account", "there is no such account", place=f"accounts, number {place + 1}"
                )
            found[account_id] = None
        return list(found)


class ErasureView(ApiView):
    scopes: ClassVar = {"GET": Scope.PRIVACY}

    @extend_schema(
        operation_id="erasure", summary="One erasure request", tags=["Privacy"], responses=ErasureAnswer
    )
    def get(self, request: Request, number: str) -> Response:
        """Where it stands: preview, approval, steps, and whether there is a receipt."""
        return Response(_shown(find_request(number=number, realm_id=self.realm_id)))


class ReceiptView(ApiView):
    scopes: ClassVar = {"GET": Scope.PRIVACY}

    @extend_schema(
        operation_id="erasure_receipt", summary="The receipt", tags=["Privacy"], responses=ReceiptAnswer
    )
    def get(self, request: Request, number: str) -> Response:
        """Signed, and naming nobody. There is one once every step has done all of its work."""
        found = find_request(number=number, realm_id=self.realm_id)
        receipt = ErasureReceipt.objects.filter(request=found).first()
        if receipt is None:
            raise NotFoundError("no-receipt", "there is no receipt yet", place=number)
        return Response(ReceiptAnswer(receipt).data)


def _account_id(name: str, realm_id: int) -> UUID | None:
    accounts = Account.objects.filter(realm_id=realm_id)
    named = accounts.filter(external_id=name).values_list("pk", flat=True).first()
    if named is not None:
        return named
    try:
        return accounts.filter(pk=UUID(name)).values_list("pk", flat=True).first()
    except ValueError:
        return None


def _shown(request: ErasureRequest) -> dict[str, Any]:
    runs = JobRun.objects.filter(kind=ERASE, scope=str(request.pk)).order_by("-queued_at")
    run = runs.values_list("pk", flat=True).first()
    shown = ErasureRequest.objects.prefetch_related(
        "accounts", Prefetch("steps", ErasureStep.objects.order_by("place"))
    ).get(pk=request.pk)
    return dict(ErasureAnswer(shown, context={"run": run}).data)
