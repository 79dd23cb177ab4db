"""Messages: read by number, and written: appended, edited, and answering calls of tools."""

from dataclasses import replace
from typing import Any, ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope
from access.models.log import TargetKind
from conversations.api.attempts import GivenAttempt
from conversations.api.fields import CountField, MessageIdField
from conversations.api.listing import list_answer, list_of, page_by_number, page_parameters
from conversations.api.looking_up import checked_seq, conversation_in, fitting_seq, no_message, seq_of
from conversations.api.parsing import ExactJsonParser
from conversations.api.said import GivenMessage, GivenWords, said_of
from conversations.api.shapes import MessageAnswer, WrittenAnswer
from conversations.api.telling import tell_messages
from conversations.api.writing import Writing
from conversations.models import Conversation, Message
from conversations.public_ids import message_id
from conversations.services.appending import append_message, edit_message
from conversations.services.placing import AS_ROOT, AT_HEAD
from conversations.services.saying.messages import SaidMessage
from conversations.services.tool_results import CallEnding, answer_calls
from conversations.vocabulary import Dialect, Role

TAG: Final = "Messages"
_RETRY: Final = OpenApiResponse(
    WrittenAnswer, "A retry: what is stored of the message and of its attempt. Do not ask the model again."
)


class GivenAppend(GivenMessage):
    """A message to be appended; with `generation`, an attempt at its answer is opened below it."""

    below_id = MessageIdField(
        required=False,
        allow_null=True,
        help_text="Below which message: the head if left out, null for a new root beside the first message.",
    )
    generation = GivenAttempt(required=False)


class GivenEdit(GivenMessage):
    """Another version of a user's message."""

    role = serializers.ChoiceField(choices=[(Role.USER.value, Role.USER.label)], default=Role.USER)
    generation = GivenAttempt(required=False)


class GivenCallEnding(serializers.Serializer):
    """How one call ended, as its runner saw it."""

    tool_call_id = serializers.CharField(max_length=255)
    error_code = serializers.CharField(max_length=64, required=False)
    duration_ms = CountField(required=False)


class GivenResults(GivenWords):
    """A message that answers the calls of the message before it, stored as that message's dialect has it."""

    client_message_id = serializers.CharField(required=False, max_length=255)
    below_id = MessageIdField(required=False)
    calls = GivenCallEnding(many=True, required=False)
    generation = GivenAttempt(required=False)


class MessagesView(ApiView):
    """All messages of a conversation, in the order they were written."""

    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.WRITE}
    parser_classes = (ExactJsonParser,)

    @extend_schema(
        operation_id="messages",
        summary="List messages",
        tags=[TAG],
        parameters=page_parameters(),
        responses=list_of(MessageAnswer, name="MessageListAnswer"),
    )
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """Every branch, by number; what is on one path is at the conversation's own address."""
        found = conversation_in(self.realm_id, conversation_id)
        rows = Message.objects.filter(conversation_id=found.pk).only("conversation_id", "seq")
        page = page_by_number(request, rows, by="seq")
        messages = tell_messages(conversation_id=found.pk, seqs=[row.seq for row in page.rows])
        self.log_read(
            target_kind=TargetKind.CONVERSATION,
            target_id=str(found.pk),
            conversation_id=found.pk,
            account_id=found.account_id,
            row_count=len(messages),
        )
        return Response(list_answer(request, page, messages))

    @extend_schema(
        operation_id="append_message",
        summary="Append a message, and open an attempt",
        tags=[TAG],
        request=GivenAppend,
        responses={201: WrittenAnswer, 200: _RETRY},
        examples=[
            OpenApiExample(
                "A customer asks",
                {
                    "parts": [{"type": "text", "text": "Where is order 1042?"}],
                    "client_message_id": "browser-7f3a",
                    "generation": {
                        "request_id": "turn-0001",
                        "model": "claude-sonnet-4-5",
                        "dialect": "anthropic_messages",
                    },
                },
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Write a message below the head, and open an attempt at its answer: both or neither.

        A repeat of `client_message_id` or of the attempt's `request_id` returns what is stored of
        both, also when two arrive at once; used for other content they are refused.
        """
        found = conversation_in(self.realm_id, conversation_id)
        self.concerns(found.account_id)
        given = self.read_body(GivenAppend)
        below = AT_HEAD
        if "below_id" in given:
            below = AS_ROOT if given["below_id"] is None else seq_of(found, given["below_id"])
        writing = Writing(found, said_of(given), given.get("generation"), self.now)
        return writing.write(
            lambda draft: append_message(
                conversation_id=found.pk,
                message=draft,
                actor=self.actor,
                now=self.now,
                below=below,
                dialect=writing.stored_under,
            )
        )


class MessageView(ApiView):
    """One message, whole."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="message", summary="Read a message", tags=[TAG], responses=MessageAnswer)
    def get(self, request: Request, conversation_id: UUID, seq: int) -> Response:
        """With every block, large ones too."""
        found = conversation_in(self.realm_id, conversation_id)
        told = tell_messages(conversation_id=found.pk, seqs=[fitting_seq(found, seq)], with_large=True)
        if not told:
            raise no_message(found, seq)
        self.log_read(
            target_kind=TargetKind.MESSAGE,
            target_id=message_id(found.pk, seq),
            conversation_id=found.pk,
            account_id=found.account_id,
            row_count=1,
        )
        return Response(told[0])


class EditView(ApiView):
    """Another version of what a user said."""

    scopes: ClassVar = {"POST": Scope.WRITE}
    parser_classes = (ExactJsonParser,)

    @extend_schema(
        operation_id="edit_message",
        summary="Edit a user's message",
        tags=[TAG],
        request=GivenEdit,
        responses={201: WrittenAnswer, 200: _RETRY},
    )
    def post(self, request: Request, conversation_id: UUID, seq: int) -> Response:
        """Write another version beside it and move the head there; the first and what followed it stay."""
        found = conversation_in(self.realm_id, conversation_id)
        self.concerns(found.account_id)
        seq = checked_seq(found, seq)
        given = self.read_body(GivenEdit)
        # A version is stored as its original is.
        writing = Writing(
            found, said_of(given), given.get("generation"), self.now, dialect=_dialect_at(found, seq)
        )
        return writing.write(
            lambda draft: edit_message(
                conversation_id=found.pk, seq=seq, message=draft, actor=self.actor, now=self.now
            )
        )


class ToolResultsView(ApiView):
    """Answers to the calls of tools."""

    scopes: ClassVar = {"POST": Scope.WRITE}
    parser_classes = (ExactJsonParser,)

    @extend_schema(
        operation_id="answer_calls",
        summary="Answer tool calls",
        tags=[TAG],
        request=GivenResults,
        responses={201: WrittenAnswer, 200: _RETRY},
        examples=[
            OpenApiExample(
                "One result",
                {
                    "parts": [{"type": "tool_result", "tool_call_id": "toolu_01A", "text": "In transit"}],
                    "calls": [{"tool_call_id": "toolu_01A", "duration_ms": 180}],
                },
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Write a message of results below the one that made the calls, and say how each call ended.

        A result's `status`, or an `error_code` of its call, makes the call a failed one.
        """
        found = conversation_in(self.realm_id, conversation_id)
        self.concerns(found.account_id)
        given = self.read_body(GivenResults)
        below = seq_of(found, given["below_id"]) if "below_id" in given else AT_HEAD
        dialect = _dialect_at(found, below or found.head_seq)
        said = said_of(given, role=Role.TOOL)
        writing = Writing(found, said, given.get("generation"), self.now, dialect=dialect)
        endings = _endings(given, said, writing.stored_under)
        return writing.write(
            lambda draft: answer_calls(
                conversation_id=found.pk,
                message=draft,
                actor=self.actor,
                now=self.now,
                below=below,
                dialect=writing.stored_under,
                endings=endings,
            )
        )


def _dialect_at(found: Conversation, seq: int | None) -> Dialect | None:
    if seq is None:
        return None
    rows = Message.objects.filter(conversation_id=found.pk, seq=seq)
    spoken = rows.values_list("dialect", flat=True).first()
    return Dialect(spoken) if spoken else None


def _endings(given: dict[str, Any], said: SaidMessage, dialect: Dialect | None) -> list[CallEnding]:
    endings = {
        call["tool_call_id"]: CallEnding(
            call_id=call["tool_call_id"],
            error_code=call.get("error_code", ""),
            duration_ms=call.get("duration_ms"),
        )
        for call in given.get("calls", ())
    }
    if dialect == Dialect.OPENAI_CHAT:
        # Its messages cannot say that a tool failed; the call's own row does.
        for block in said.blocks:
            known = endings.get(block.call_id, CallEnding(call_id=block.call_id))
            if block.is_error and not known.error_code:
                endings[block.call_id] = replace(known, error_code="error")
    return list(endings.values())
