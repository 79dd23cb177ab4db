"""Attempts: opened, opened again, ended; and the bytes that were sent for them."""

from typing import ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope
from access.models.log import TargetKind
from conversations.api.answers import generation_answer
from conversations.api.attempts import (
    GivenAgainAnswered,
    GivenAnswer,
    GivenAttempt,
    GivenFailure,
    again_of,
    answer_of,
    attempt_of,
    dialect_of,
    failure_of,
    usage_of,
)
from conversations.api.fields import MessageIdField
from conversations.api.listing import limit_of, list_answer, list_of, page_by_number, page_parameters
from conversations.api.looking_up import conversation_in, generation_in, seq_of
from conversations.api.parsing import ExactJsonParser
from conversations.api.shapes import GenerationAnswer, GenerationDetailAnswer, WrittenAnswer
from conversations.api.writing import written_answer
from conversations.errors import ConflictError
from conversations.models import Generation
from conversations.services.generations import Outcome, begin_generation, finish_generation
from conversations.services.turns import regenerate
from conversations.services.usage import correct_usage
from conversations.vocabulary import Dialect, GenerationStatus

TAG: Final = "Generations"
_AGAIN: Final = OpenApiResponse(WrittenAnswer, "A retry: what is stored. Do not ask the model again.")
_LARGE: Final = ("usage", "body_patch", "error_message")


class GivenBelow(GivenAttempt):
    """An attempt below a message that is stored already: a retry, a fallback, the answer to results."""

    leaf_id = MessageIdField(
        required=False, help_text="The last message of what is sent; the head if left out."
    )


class GivenCancel(serializers.Serializer):
    """Nothing is asked."""


class GivenLateUsage(serializers.Serializer):
    """What the provider says of an attempt's tokens after the attempt has ended."""

    usage = serializers.DictField(help_text="The provider's own usage object, as it came.")
    service_tier = serializers.CharField(required=False, max_length=32)


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
        page = page_by_number(request, rows, by="number", limit=limit_of(request))
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
        asked = GivenBelow(data=request.data)
        asked.is_valid(raise_exception=True)
        given = asked.validated_data
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
        asked = GivenAgainAnswered(data=request.data)
        asked.is_valid(raise_exception=True)
        given = asked.validated_data
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
        return _told(generation, is_new=is_new, status=201)


class _EndingView(ApiView):
    """An attempt that ends; ending it again in the same way returns what is stored."""

    scopes: ClassVar = {"POST": Scope.WRITE}
    parser_classes = (ExactJsonParser,)

    def end(self, request: Request, spelled: str) -> Response:
        found, generation = generation_in(self.realm_id, spelled)
        self.concerns(found.account_id)
        ended = finish_generation(
            conversation_id=found.pk,
            number=generation.number,
            outcome=self.outcome(request, dialect_of(generation)),
            actor=self.actor,
            now=self.now,
        )
        return _told(ended, is_new=generation.finished_at is None and ended.finished_at == self.now)

    def outcome(self, request: Request, dialect: Dialect) -> Outcome:
        raise NotImplementedError


class FinishView(_EndingView):
    """An answer came."""

    scopes: ClassVar = {"POST": Scope.WRITE}

    @extend_schema(
        operation_id="finish_generation",
        summary="Finish an attempt",
        tags=[TAG],
        request=GivenAnswer,
        responses=WrittenAnswer,
        examples=[
            OpenApiExample(
                "An answer",
                {
                    "message": {"parts": [{"type": "text", "text": "It arrives tomorrow."}]},
                    "stop_reason": "end_turn",
                    "usage": {"input_tokens": 412, "output_tokens": 9},
                },
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, generation_id: str) -> Response:
        """Write the answer below the attempt's leaf; the head moves to it where the customer is still there.

        `response` is the provider's answer as it came, JSON or event stream: message, model, tokens and
        how it ended are read from it.
        """
        return self.end(request, generation_id)

    def outcome(self, request: Request, dialect: Dialect) -> Outcome:
        asked = GivenAnswer(data=request.data)
        asked.is_valid(raise_exception=True)
        return answer_of(asked.validated_data, dialect=dialect)


class FailView(_EndingView):
    """No whole answer came."""

    scopes: ClassVar = {"POST": Scope.WRITE}

    @extend_schema(
        operation_id="fail_generation",
        summary="Fail an attempt",
        tags=[TAG],
        request=GivenFailure,
        responses=WrittenAnswer,
    )
    def post(self, request: Request, generation_id: str) -> Response:
        """The attempt keeps its row, its tokens and its cost; the transcript does not show it."""
        return self.end(request, generation_id)

    def outcome(self, request: Request, dialect: Dialect) -> Outcome:
        asked = GivenFailure(data=request.data)
        asked.is_valid(raise_exception=True)
        return failure_of(asked.validated_data, dialect=dialect)


class CancelView(_EndingView):
    """Nobody waits for it any more."""

    scopes: ClassVar = {"POST": Scope.WRITE}

    @extend_schema(
        operation_id="cancel_generation",
        summary="Cancel an attempt",
        tags=[TAG],
        request=GivenCancel,
        responses=WrittenAnswer,
    )
    def post(self, request: Request, generation_id: str) -> Response:
        """End an attempt that nobody waits for any more."""
        return self.end(request, generation_id)

    def outcome(self, request: Request, dialect: Dialect) -> Outcome:
        return Outcome(status=GenerationStatus.CANCELLED)


class UsageView(ApiView):
    """A provider's late report."""

    scopes: ClassVar = {"POST": Scope.WRITE}
    parser_classes = (ExactJsonParser,)

    @extend_schema(
        operation_id="correct_usage",
        summary="Report an attempt's usage late",
        tags=[TAG],
        request=GivenLateUsage,
        responses=GenerationAnswer,
        examples=[
            OpenApiExample(
                "After a cut-off stream",
                {"usage": {"input_tokens": 412, "output_tokens": 183}},
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, generation_id: str) -> Response:
        """Replace the estimate of an attempt that broke off by what the provider counted, once.

        The same report again changes nothing; another one is refused (409 `usage-corrected`), as is one
        about an answer that told its usage itself (409 `usage-known`).
        """
        found, generation = generation_in(self.realm_id, generation_id)
        self.concerns(found.account_id)
        asked = GivenLateUsage(data=request.data)
        asked.is_valid(raise_exception=True)
        corrected = correct_usage(
            conversation_id=found.pk,
            number=generation.number,
            usage=usage_of(asked.validated_data, dialect=dialect_of(generation)),
            service_tier=asked.validated_data.get("service_tier", ""),
        )
        return Response(generation_answer(corrected))


def _told(generation: Generation, *, is_new: bool, status: int = 200) -> Response:
    return written_answer(
        generation.conversation_id,
        seq=generation.message_seq,
        generation=generation,
        is_new=is_new,
        status=status,
    )
