"""Conversations: begun, listed, and forked."""

from typing import ClassVar, Final
from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope
from conversations.api.answers import conversation_answer
from conversations.api.fields import MessageIdField
from conversations.api.listing import (
    filter_parameters,
    filtered,
    list_answer,
    list_of,
    page_of,
    page_parameters,
)
from conversations.api.looking_up import conversation_in, seq_of
from conversations.api.shapes import ConversationAnswer
from conversations.filters import ConversationFilter
from conversations.models import Conversation
from conversations.services.accounts import ensure_account
from conversations.services.forking import fork_conversation
from conversations.services.starting import start_conversation

TAG: Final = "Conversations"
# A key sees one realm.
_NOT_FILTERED_BY: Final = ("realm",)


class GivenAccount(serializers.Serializer):
    """The customer, by the application's own id. Label and e-mail are taken for a new one only."""

    external_id = serializers.CharField(max_length=255)
    label = serializers.CharField(  # type: ignore[assignment]  # Field has one of another kind
        max_length=255, required=False, allow_blank=True
    )
    email = serializers.EmailField(max_length=320, required=False, allow_blank=True)


class GivenConversation(serializers.Serializer):
    """A conversation to begin."""

    account = GivenAccount()
    title = serializers.CharField(max_length=1_000, required=False, allow_blank=True)
    external_ref = serializers.CharField(
        max_length=255, required=False, help_text="The application's own key: a repeat returns what is there."
    )
    parent_call_id = serializers.CharField(max_length=255, required=False)
    started_at = serializers.DateTimeField(required=False)


class GivenFork(serializers.Serializer):
    """From where a new conversation begins."""

    leaf_id = MessageIdField()
    external_ref = serializers.CharField(max_length=255, required=False)


class ConversationsView(ApiView):
    """The list, and where one begins."""

    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.WRITE}

    @extend_schema(
        operation_id="conversations",
        summary="List conversations",
        tags=[TAG],
        parameters=[*filter_parameters(ConversationFilter, without=_NOT_FILTERED_BY), *page_parameters()],
        responses=list_of(ConversationAnswer, name="ConversationListAnswer"),
    )
    def get(self, request: Request) -> Response:
        """Newest activity first, without what was said in them."""
        rows = Conversation.objects.filter(account__realm_id=self.realm_id).select_related("account")
        rows = filtered(request, ConversationFilter, rows, without=_NOT_FILTERED_BY)
        page = page_of(request, rows, moment="last_activity_at")
        return Response(list_answer(request, page, [conversation_answer(row) for row in page.rows]))

    @extend_schema(
        operation_id="begin_conversation",
        summary="Begin a conversation",
        tags=[TAG],
        request=GivenConversation,
        responses={
            201: ConversationAnswer,
            200: OpenApiResponse(ConversationAnswer, "The account has one with this `external_ref`."),
        },
        examples=[
            OpenApiExample(
                "A customer writes",
                {"account": {"external_id": "customer-1042"}, "title": "Order 1042"},
                request_only=True,
            )
        ],
    )
    def post(self, request: Request) -> Response:
        """A conversation without messages, of an account that is made if it is new."""
        given = self.read_body(GivenConversation)
        account = ensure_account(realm=self.key.realm, now=self.now, **given["account"])
        self.concerns(account.pk)
        begun = start_conversation(
            account_id=account.pk,
            now=self.now,
            title=given.get("title", ""),
            external_ref=given.get("external_ref", ""),
            parent_call_id=given.get("parent_call_id", ""),
            started_at=given.get("started_at"),
        )
        return _begun(self, begun)


class ForkView(ApiView):
    """A new conversation out of another one."""

    scopes: ClassVar = {"POST": Scope.WRITE}

    @extend_schema(
        operation_id="fork_conversation",
        summary="Fork a conversation",
        tags=[TAG],
        request=GivenFork,
        responses={
            201: ConversationAnswer,
            200: OpenApiResponse(ConversationAnswer, "There is a fork with this `external_ref`."),
        },
    )
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """A new conversation of the same account that begins as the path to `leaf_id`."""
        found = conversation_in(self.realm_id, conversation_id)
        self.concerns(found.account_id)
        given = self.read_body(GivenFork)
        fork = fork_conversation(
            conversation_id=found.pk,
            leaf_seq=seq_of(found, given["leaf_id"]),
            actor=self.actor,
            now=self.now,
            external_ref=given.get("external_ref", ""),
        )
        return _begun(self, fork)


def _begun(view: ApiView, found: Conversation) -> Response:
    told = conversation_answer(found)
    if Scope.READ not in view.key.scopes:
        # Of one that was there already, or of what was forked, the title is somebody's words.
        told["title"] = None
    answer = Response(told, status=201 if found.created_at == view.now else 200)
    answer["Location"] = reverse("api:v1:conversation", args=[found.pk])
    return answer
