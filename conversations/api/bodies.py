"""Bytes: what was sent for an attempt, what going on would send, and what fits a budget."""

import base64
import hashlib
from collections.abc import Mapping
from typing import Any, ClassVar, Final
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope
from access.models.log import TargetKind
from conversations.api.answers import summary_answer
from conversations.api.conversations import TAG as CONVERSATIONS
from conversations.api.looking_up import LARGEST, conversation_in, generation_in, seq_of
from conversations.api.refusals import PROBLEM, BodyGone, BodyNotGiven, refusal
from conversations.api.shapes import MessageAnswer, SummaryAnswer
from conversations.api.telling import tell_messages
from conversations.errors import ConflictError, NotFoundError
from conversations.models import Conversation
from conversations.public_ids import message_id
from conversations.replay import (
    NotReplayableError,
    ReplayError,
    next_body_at,
    request_body_of,
)
from conversations.replay.context import assemble
from conversations.vocabulary import BodyProof, Dialect

TAG: Final = "Replay"
BYTES: Final = "application/octet-stream"
_LEAF: Final = OpenApiParameter(
    "leaf_id", str, description="The message to go on from; the head if left out."
)
_DIGEST: Final = OpenApiParameter(
    "Content-Digest",
    str,
    OpenApiParameter.HEADER,
    response=[200],
    description="SHA-256 of the bytes (RFC 9530).",
)


class BytesRenderer(JSONRenderer):
    """Lets a caller ask for bytes; what is refused is told in JSON all the same."""

    media_type = BYTES
    format = "bytes"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return super().render(data, "application/json", renderer_context)


class ViolationAnswer(serializers.Serializer):
    """A rule of the provider that the body would break."""

    rule = serializers.CharField()
    strength = serializers.ChoiceField(
        choices=["refuse", "warn", "replay"], help_text="Whether the provider refuses it."
    )
    place = serializers.CharField()
    explanation = serializers.CharField()


class NextBodyAnswer(serializers.Serializer):
    """The next body, told: what it breaks, and what its dialect could not take."""

    dialect = serializers.ChoiceField(choices=Dialect.choices)
    leaf_id = serializers.CharField()
    body = serializers.CharField(help_text="The body's exact text.")
    sha256 = serializers.CharField()
    violations = ViolationAnswer(many=True)
    notes = serializers.ListField(child=serializers.CharField())


class ContextAnswer(serializers.Serializer):
    """What goes on under a budget: summaries first, then whole groups of calls and results from the end."""

    leaf_id = serializers.CharField()
    tokens = serializers.IntegerField(help_text="Never above the budget.")
    summaries = SummaryAnswer(many=True)
    messages = MessageAnswer(many=True)
    left_out = serializers.ListField(child=serializers.CharField(), help_text="Ids of older messages.")


class ReplayBodyView(ApiView):
    """What was sent for an attempt."""

    scopes: ClassVar = {"GET": Scope.READ}
    renderer_classes = (BytesRenderer, JSONRenderer)

    @extend_schema(
        operation_id="replay_body",
        summary="Read the exact request body of an attempt",
        tags=[TAG],
        parameters=[_DIGEST],
        responses={
            (200, BYTES): OpenApiResponse(OpenApiTypes.BINARY, "The bytes, checked against their digest."),
            (409, PROBLEM): refusal("Everything is there, but does not give the bytes that were sent."),
            (410, PROBLEM): refusal("Bytes that it was made of are gone; `detail` names them."),
        },
    )
    def get(self, request: Request, generation_id: str) -> HttpResponse:
        """Byte for byte as it was sent; where secrets were cut before it was kept, as it was kept."""
        found, generation = generation_in(self.realm_id, generation_id)
        if generation.body_proof == BodyProof.NONE:
            raise NotFoundError(
                "no-body", "no request body was recorded for this attempt", place=generation_id
            )
        try:
            body = request_body_of(conversation_id=found.pk, number=generation.number)
        except NotReplayableError as error:
            raise BodyGone(error.reason, place=error.place) from error
        except ReplayError as error:
            raise BodyNotGiven(error.reason, place=error.place) from error
        self.log_read(
            target_kind=TargetKind.ATTEMPT,
            target_id=generation_id,
            conversation_id=found.pk,
            account_id=found.account_id,
        )
        return _bytes(body)


class NextBodyView(ApiView):
    """What going on from a message would send."""

    scopes: ClassVar = {"GET": Scope.READ}
    renderer_classes = (BytesRenderer, JSONRenderer)

    @extend_schema(
        operation_id="next_body",
        summary="Compose the next request body",
        tags=[TAG],
        parameters=[
            _LEAF,
            OpenApiParameter(
                "dialect", str, enum=Dialect.values, description="That of the last attempt if left out."
            ),
            OpenApiParameter(
                "model", str, description="Needed where no attempt on the path names one in the dialect."
            ),
            _DIGEST,
        ],
        responses={
            (200, BYTES): OpenApiResponse(OpenApiTypes.BINARY, "The body's bytes."),
            (200, "application/json"): OpenApiResponse(
                NextBodyAnswer, "With `Accept: application/json`: the body, what it breaks, and notes."
            ),
            (409, PROBLEM): refusal("It cannot be composed; `detail` says why."),
        },
    )
    def get(self, request: Request, conversation_id: UUID) -> HttpResponse:
        """With model, preamble, tools and parameters of the last attempt on the path. Nothing is sent."""
        found = conversation_in(self.realm_id, conversation_id)
        leaf_seq = _leaf(found, request)
        try:
            made = next_body_at(
                conversation_id=found.pk,
                leaf_seq=leaf_seq,
                dialect=_dialect(request),
                model=_model(request),
            )
        except ReplayError as error:
            raise BodyNotGiven(error.reason, place=error.place) from error
        self.log_read(
            target_kind=TargetKind.MESSAGE,
            target_id=message_id(found.pk, leaf_seq),
            conversation_id=found.pk,
            account_id=found.account_id,
        )
        if request.accepted_renderer.format == BytesRenderer.format:
            return _bytes(made.body)
        return Response(
            {
                "dialect": made.dialect,
                "leaf_id": message_id(found.pk, leaf_seq),
                "body": made.body.decode("utf-8", "replace"),
                "sha256": hashlib.sha256(made.body).hexdigest(),
                "violations": [
                    {
                        "rule": one.rule,
                        "strength": one.strength,
                        "place": one.place,
                        "explanation": one.explanation,
                    }
                    for one in made.violations
                ],
                "notes": made.notes,
            }
        )


class ContextView(ApiView):
    """What of a path fits a budget."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="context",
        summary="Assemble a context under a budget",
        tags=[CONVERSATIONS],
        parameters=[
            OpenApiParameter(
                "budget",
                {"type": "integer", "minimum": 0, "maximum": LARGEST},
                required=True,
                description="Tokens.",
            ),
            _LEAF,
        ],
        responses=ContextAnswer,
    )
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """Pinned summaries of the path, then as many of its last messages as fit.

        A call is never parted from its results. Token counts are the messages' own where known,
        else an estimate of four bytes a token.
        """
        found = conversation_in(self.realm_id, conversation_id)
        budget = _budget(request)
        leaf_seq = _leaf(found, request)
        chosen = assemble(conversation_id=found.pk, leaf_seq=leaf_seq, budget=budget)
        messages = tell_messages(conversation_id=found.pk, seqs=[one.seq for one in chosen.messages])
        self.log_read(
            target_kind=TargetKind.CONVERSATION,
            target_id=str(found.pk),
            conversation_id=found.pk,
            account_id=found.account_id,
            row_count=len(messages),
        )
        return Response(
            {
                "leaf_id": message_id(found.pk, leaf_seq),
                "tokens": chosen.tokens,
                "summaries": [summary_answer(summary) for summary in chosen.summaries],
                "messages": messages,
                "left_out": [message_id(found.pk, seq) for seq in chosen.left_out],
            }
        )


def _leaf(found: Conversation, request: Request) -> int:
    given = request.query_params.get("leaf_id")
    if given:
        return seq_of(found, given)
    if found.head_seq is None:
        raise ConflictError(
            "no-head", "the conversation has no message yet", place=f"conversation {found.pk}"
        )
    return found.head_seq


def _budget(request: Request) -> int:
    given = request.query_params.get("budget", "")
    if not (given.isascii() and given.isdigit() and len(given) <= 10 and int(given) <= LARGEST):
        raise ValidationError({"budget": "a whole number of tokens"})
    return int(given)


def _dialect(request: Request) -> Dialect | None:
    given = request.query_params.get("dialect")
    if given and given not in Dialect.values:
        raise ValidationError({"dialect": f"one of {', '.join(Dialect.values)}"})
    return Dialect(given) if given else None


def _model(request: Request) -> str:
    given = request.query_params.get("model", "")
    if len(given) > 255:
        raise ValidationError({"model": "at most 255 characters"})
    return given


def _bytes(body: bytes) -> HttpResponse:
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    return HttpResponse(
        body,
        content_type=BYTES,
        headers={"Content-Digest": f"sha-256=:{digest}:", "Cache-Control": "no-store"},
    )
