"""Attempts: opened, opened again, listed and read."""

from typing import ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope
from access.models.log import TargetKind
from conversations.api.answers import generation_answer
from conversations.api.attempts import (
    GivenAgainAnswered,
    GivenAttempt,
    again_of,
    answer_of,
    attempt_of,
    dialect_of,
)
from conversations.api.fields import MessageIdField
from conversations.api.listing import list_answer, list_of, page_by_number, page_parameters
from conversations.api.looking_up import conversation_in, generation_in, seq_of
from conversations.api.parsing import ExactJsonParser
from conversations.api.shapes import GenerationAnswer, GenerationDetailAnswer, WrittenAnswer
from conversations.api.writing import written_answer
from conversations.errors import ConflictError
from conversations.models import Generation
from conversations.services.generations import begin_generation
from conversations.services.turns import regenerate

TAG: Final = "Generations"
_AGAIN: Final = OpenApiResponse(WrittenAnswer, "A retry: what is stored. Do not ask the model again.")
_LARGE: Final = ("usage", "body_patch", "error_message")


class GivenBelow(GivenAttempt):
    """An attempt below a message that is stored already: a retry, a fallback, the answer to results."""

    leaf_id = MessageIdField(
        required=False, help_text="The last message of what is sent; the head if left out."
    )


class GenerationsView(ApiView):
    """The attempts of a conversation."""

    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.WRITE}

    @extend_schema(
        operation_id="generations",
        summary="List attempts",
        tags=[TAG],
        parameters=page_parameters(),
        responses=list_of(GenerationAnswer, name="GenerationListAnswer"),
    )
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """In the order they began, failed ones too, each with its tokens and cost."""
        found = conversation_in(self.realm_id, conversation_id)
        rows = Generation.objects.filter(conversation_id=found.pk).defer(*_LARGE)
        page = page_by_number(request, rows, by="number")
        return Response(list_answer(request, page, [generation_answer(row) for row in page.rows]))

    @extend_schema(
        operation_id="begin_generation",
        summary="Open an attempt below a stored message",
        tags=[TAG],
        request=GivenBelow,
        responses={201: WrittenAnswer, 200: _AGAIN},
    )
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Before the model is asked. A repeat of request id and attempt number returns the stored one."""
        found = conversation_in(self.realm_id, conversation_id)
        self.concerns(found.account_id)
        given = self.read_body(GivenBelow)
        leaf_seq = seq_of(found, given["leaf_id"]) if "leaf_id" in given else found.head_seq
        if leaf_seq is None:
            raise ConflictError(
                "no-head", "the conversation has no message to answer yet", place=f"conversation {found.pk}"
            )
        generation, is_new = begin_generation(
            conversation_id=found.pk,
            leaf_seq=leaf_seq,
            attempt=attempt_of(given, conversation_id=found.pk),
            now=self.now,
        )
        return written_answer(found.pk, seq=leaf_seq, generation=generation, is_new=is_new, status=201)


class GenerationView(ApiView):
    """One attempt."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="generation", summary="Read an attempt", tags=[TAG], responses=GenerationDetailAnswer
    )
    def get(self, request: Request, generation_id: str) -> Response:
        """With the provider's own words where it failed."""
        found, generation = generation_in(self.realm_id, generation_id)
        if generation.error_message:
            self.log_read(
                target_kind=TargetKind.ATTEMPT,
                target_id=generation_id,
                conversation_id=found.pk,
                account_id=found.account_id,
                row_count=1,
            )
        return Response({**generation_answer(generation), "error_message": generation.error_message})


class RegenerateView(ApiView):
    """Another answer to the same question."""

    scopes: ClassVar = {"POST": Scope.WRITE}
    parser_classes = (ExactJsonParser,)

    @extend_schema(
        operation_id="regenerate",
        summary="Regenerate an answer",
        tags=[TAG],
        request=GivenAgainAnswered,
        responses={201: WrittenAnswer, 200: _AGAIN},
        examples=[OpenApiExample("Ask once more", {"request_id": "turn-0002"}, request_only=True)],
    )
    def post(self, request: Request, generation_id: str) -> Response:
        """Open another attempt below the same message; what is left out is as in the attempt before.

        Finishing it writes a sibling of the first answer and moves the head to it. With `answer` that
        is done at once, and `head` is the new one.
        """
        found, origin = generation_in(self.realm_id, generation_id)
        self.concerns(found.account_id)
        given = self.read_body(GivenAgainAnswered)
        again = again_of(given, conversation_id=found.pk)
        outcome = None
        if "answer" in given:
            outcome = answer_of(given["answer"], dialect=again.dialect or dialect_of(origin))
        generation, is_new = regenerate(
            conversation_id=found.pk,
            number=origin.number,
            again=again,
            outcome=outcome,
            actor=self.actor,
            now=self.now,
        )
        return told(generation, is_new=is_new, status=201)


def told(generation: Generation, *, is_new: bool, status: int = 200) -> Response:
    return written_answer(
        generation.conversation_id,
        seq=generation.message_seq,
        generation=generation,
        is_new=is_new,
        status=status,
    )
