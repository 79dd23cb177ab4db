"""Attempts end: finished, failed, cancelled; and what a provider tells of their tokens afterwards."""

from abc import ABC, abstractmethod
from typing import ClassVar

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope
from conversations.api.answers import generation_answer
from conversations.api.attempts import (
    GivenAnswer,
    GivenFailure,
    answer_of,
    dialect_of,
    failure_of,
    usage_of,
)
from conversations.api.generations import TAG, told
from conversations.api.looking_up import generation_in
from conversations.api.parsing import ExactJsonParser
from conversations.api.shapes import GenerationAnswer, WrittenAnswer
from conversations.services.generations import Outcome, finish_generation
from conversations.services.usage import correct_usage
from conversations.vocabulary import Dialect, GenerationStatus


class GivenCancel(serializers.Serializer):
    """Nothing is asked."""


class GivenLateUsage(serializers.Serializer):
    """What the provider says of an attempt's tokens after the attempt has ended."""

    usage = serializers.DictField(help_text="The provider's own usage object, as it came.")
    service_tier = serializers.CharField(required=False, max_length=32)


class _EndingView(ApiView, ABC):
    """An attempt that ends; ending it again in the same way returns what is stored."""

    scopes: ClassVar = {"POST": Scope.WRITE}
    parser_classes = (ExactJsonParser,)

    def end(self, spelled: str) -> Response:
        found, generation = generation_in(self.realm_id, spelled)
        self.concerns(found.account_id)
        ended = finish_generation(
            conversation_id=found.pk,
            number=generation.number,
            outcome=self.outcome(dialect_of(generation)),
            actor=self.actor,
            now=self.now,
        )
        return told(ended, is_new=generation.finished_at is None and ended.finished_at == self.now)

    @abstractmethod
    def outcome(self, dialect: Dialect) -> Outcome:
        """Return what the request says of how the attempt ended."""


class FinishView(_EndingView):
    """An answer came."""

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
        return self.end(generation_id)

    def outcome(self, dialect: Dialect) -> Outcome:
        return answer_of(self.read_body(GivenAnswer), dialect=dialect)


class FailView(_EndingView):
    """No whole answer came."""

    @extend_schema(
        operation_id="fail_generation",
        summary="Fail an attempt",
        tags=[TAG],
        request=GivenFailure,
        responses=WrittenAnswer,
    )
    def post(self, request: Request, generation_id: str) -> Response:
        """The attempt keeps its row, its tokens and its cost; the transcript does not show it."""
        return self.end(generation_id)

    def outcome(self, dialect: Dialect) -> Outcome:
        return failure_of(self.read_body(GivenFailure), dialect=dialect)


class CancelView(_EndingView):
    """Nobody waits for it any more."""

    @extend_schema(
        operation_id="cancel_generation",
        summary="Cancel an attempt",
        tags=[TAG],
        request=GivenCancel,
        responses=WrittenAnswer,
    )
    def post(self, request: Request, generation_id: str) -> Response:
        """End an attempt that nobody waits for any more."""
        return self.end(generation_id)

    def outcome(self, dialect: Dialect) -> Outcome:
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

        It counts the tokens of input and of output, else it is refused (422 `usage-incomplete`). The same
        report again changes nothing; another one is refused (409 `usage-corrected`), as is one about an
        answer that told its usage itself (409 `usage-known`).
        """
        found, generation = generation_in(self.realm_id, generation_id)
        self.concerns(found.account_id)
        given = self.read_body(GivenLateUsage)
        corrected = correct_usage(
            conversation_id=found.pk,
            number=generation.number,
            usage=usage_of(given, dialect=dialect_of(generation)),
            actor=self.actor,
            now=self.now,
            service_tier=given.get("service_tier", ""),
        )
        return Response(generation_answer(corrected))
