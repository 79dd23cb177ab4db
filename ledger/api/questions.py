"""What the guard asked staff: an application polls it, and begins again once it is allowed.

Only a person answers, in the console; no key can.
"""

from typing import ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

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
from conversations.errors import NotFoundError
from ledger.api.filters import QuestionFilter
from ledger.api.shapes import QuestionAnswer
from ledger.models import GuardQuestion


class QuestionsView(ApiView):
    scopes: ClassVar = {"GET": Scope.EFFECTS}

    @extend_schema(
        operation_id="list_questions",
        summary="List questions to staff",
        tags=["Effects"],
        parameters=[*filter_parameters(QuestionFilter), *page_parameters()],
        responses=list_of(QuestionAnswer, name="QuestionList"),
    )
    def get(self, request: Request) -> Response:
        """What the guard asked, newest first."""
        rows = filtered(request, QuestionFilter, GuardQuestion.objects.filter(realm_id=self.realm_id))
        page = page_of(request, rows, moment="asked_at")
        return Response(list_answer(request, page, list(QuestionAnswer(page.rows, many=True).data)))


class QuestionView(ApiView):
    scopes: ClassVar = {"GET": Scope.EFFECTS}

    @extend_schema(
        operation_id="question", summary="One question to staff", tags=["Effects"], responses=QuestionAnswer
    )
    def get(self, request: Request, question_id: UUID) -> Response:
        """How staff answered. Gone where it has answered itself: begin again to hear what holds now."""
        found = GuardQuestion.objects.filter(pk=question_id, realm_id=self.realm_id).first()
        if found is None:
            raise NotFoundError("no-question", "nothing is asked any more", place=f"question {question_id}")
        return Response(QuestionAnswer(found).data)
