"""The head: which message's path the customer sees."""

from typing import ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope
from conversations.api.answers import head_answer
from conversations.api.conversations import TAG
from conversations.api.etags import HeadHasMoved, expected_moves, move_etag
from conversations.api.fields import MessageIdField
from conversations.api.looking_up import conversation_in, seq_of
from conversations.api.refusals import PROBLEM, refusal
from conversations.api.shapes import HeadAnswer
from conversations.errors import ConflictError
from conversations.services.heads import switch_head


class GivenHead(serializers.Serializer):
    """The message that is to be the last one on the customer's screen."""

    message_id = MessageIdField()


class HeadView(ApiView):
    """The head of one conversation."""

    scopes: ClassVar = {"GET": Scope.READ, "PUT": Scope.WRITE}

    @extend_schema(
        operation_id="head",
        summary="Read where the head stands",
        tags=[TAG],
        parameters=[OpenApiParameter("ETag", str, OpenApiParameter.HEADER, response=[200])],
        responses=HeadAnswer,
    )
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """The message that the customer sees last, and the number of the move that brought it there."""
        found = conversation_in(self.realm_id, conversation_id)
        return _told(head_answer(found.pk))

    @extend_schema(
        operation_id="move_head",
        summary="Switch the active branch",
        tags=[TAG],
        request=GivenHead,
        parameters=[
            OpenApiParameter(
                "If-Match",
                str,
                OpenApiParameter.HEADER,
                description="An `ETag` of the conversation or its head: it must not have moved since.",
            ),
            OpenApiParameter("ETag", str, OpenApiParameter.HEADER, response=[200]),
        ],
        responses={
            200: HeadAnswer,
            (412, PROBLEM): refusal("The head has moved since the `ETag` that `If-Match` names."),
        },
    )
    def put(self, request: Request, conversation_id: UUID) -> Response:
        """Show another message's path from now on; to where the head stands already, nothing is written.

        Without `If-Match` the last writer wins. What was on screen stays in the log of head moves.
        """
        found = conversation_in(self.realm_id, conversation_id)
        seq = seq_of(found, self.read_body(GivenHead)["message_id"])
        allowed = expected_moves(request)
        now_at = found.head_move or 0
        if allowed is not None and now_at not in allowed:
            raise HeadHasMoved
        try:
            switch_head(
                conversation_id=found.pk,
                seq=seq,
                actor=self.actor,
                now=self.now,
                expected_move=None if allowed is None else now_at,
            )
        except ConflictError as error:
            if error.rule != HeadHasMoved.default_code:
                raise
            raise HeadHasMoved from error
        return _told(head_answer(found.pk))


def _told(head: dict[str, object]) -> Response:
    answer = Response(head)
    answer["ETag"] = move_etag(int(str(head["move"])))
    return answer
