"""Legal holds: an application places them and asks for their release. A person releases, in the console."""

from typing import ClassVar
from uuid import UUID

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema
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
from retention.api.shapes import HoldAnswer, HoldRequest
from retention.models import LegalHold
from retention.querysets import holds_within, may_be_held
from retention.services.holds import place_hold, request_release
from retention.vocabulary import HoldTarget


class HoldFilter(django_filters.FilterSet):
    is_released = django_filters.BooleanFilter(field_name="released_at", lookup_expr="isnull", exclude=True)
    account_id = django_filters.UUIDFilter(label="Account")
    conversation_id = django_filters.UUIDFilter(label="Conversation")
    matter = django_filters.CharFilter(max_length=64, label="Matter")

    class Meta:
        model = LegalHold
        fields: list[str] = []


class HoldsView(ApiView):
    scopes: ClassVar = {"GET": Scope.PRIVACY, "POST": Scope.PRIVACY}
    parser_classes = (ExactJsonParser,)

    @extend_schema(
        operation_id="list_holds",
        summary="List legal holds",
        tags=["Privacy"],
        parameters=[*filter_parameters(HoldFilter), *page_parameters()],
        responses=list_of(HoldAnswer, name="HoldList"),
    )
    def get(self, request: Request) -> Response:
        """Holds on accounts, conversations and effects of the realm, newest first."""
        page = page_of(request, filtered(request, HoldFilter, _holds(self)), moment="placed_at")
        return Response(list_answer(request, page, list(HoldAnswer(page.rows, many=True).data)))

    @extend_schema(
        operation_id="place_hold",
        summary="Place a legal hold",
        tags=["Privacy"],
        request=HoldRequest,
        responses={201: HoldAnswer},
        examples=[
            OpenApiExample(
                "A conversation",
                request_only=True,
                value={"conversation_id": "0193a1b2-4c5d-7000-8000-00000000002a", "matter": "M-2026-17"},
            )
        ],
    )
    def post(self, request: Request) -> Response:
        """What is held stays, whatever a policy says. Several holds on one thing are several matters."""
        given = self.read_body(HoldRequest)
        matter = given.pop("matter")
        ((name, target),) = given.items()
        kind = HoldTarget(name.removesuffix("_id"))
        if not may_be_held(self.application.reach, kind=kind, target=target):
            raise NotFoundError(f"no-{kind}", f"there is no such {kind} to hold", place=f"{kind} {target}")
        if kind == HoldTarget.ACCOUNT:
            self.concerns(target)
        hold = place_hold(**given, matter=matter, key=self.key, now=self.now, address=self.address)
        location = reverse("api:v1:hold", args=[hold.pk], request=request)
        return Response(HoldAnswer(hold).data, status=201, headers={"Location": location})


class HoldView(ApiView):
    scopes: ClassVar = {"GET": Scope.PRIVACY}

    @extend_schema(operation_id="hold", summary="One legal hold", tags=["Privacy"], responses=HoldAnswer)
    def get(self, request: Request, hold_id: UUID) -> Response:
        """Whether it is in force, and whether its release was asked for."""
        return Response(HoldAnswer(_found(self, hold_id)).data)


class ReleaseRequestView(ApiView):
    scopes: ClassVar = {"POST": Scope.PRIVACY}

    @extend_schema(
        operation_id="request_release",
        summary="Ask for a hold’s release",
        tags=["Privacy"],
        request=None,
        responses=HoldAnswer,
    )
    def post(self, request: Request, hold_id: UUID) -> Response:
        """The hold goes on until a person approves, and not the one who made this key."""
        _found(self, hold_id)
        asked = request_release(hold_id=hold_id, key=self.key, now=self.now, address=self.address)
        return Response(HoldAnswer(asked).data)


def _holds(view: ApiView) -> QuerySet[LegalHold]:
    # Staff stand in a table that the reader of customers may not read.
    return holds_within(view.application.reach).select_related(None)


def _found(view: ApiView, hold_id: UUID) -> LegalHold:
    found = _holds(view).filter(pk=hold_id).first()
    if found is None:
        raise NotFoundError("no-hold", "there is no such hold", place=f"hold {hold_id}")
    return found
