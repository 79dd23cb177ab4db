"""`GET /search`: words in what was said. Snippets are bodies, so each search is in the access log."""

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope
from access.models.log import TargetKind
from conversations import public_ids
from conversations.api.listing import list_of
from conversations.models import Account
from conversations.search.words import LIMIT, MOST_PLACES, Within, WordHit, search_words
from conversations.vocabulary import GenerationStatus, PartType, Role

_LONGEST = 500


class MarkAnswer(serializers.Serializer):
    start = serializers.IntegerField()
    end = serializers.IntegerField(help_text="Not included.")


class HitAnswer(serializers.Serializer):
    """A part of a message whose text holds the words."""

    conversation_id = serializers.UUIDField()
    message_id = serializers.SerializerMethodField()
    ordinal = serializers.IntegerField(help_text="Which part of the message.")
    role = serializers.ChoiceField(choices=Role.choices)
    type = serializers.ChoiceField(choices=PartType.choices)
    tool = serializers.CharField(source="tool_name", help_text="Of calls and results; else empty.")
    title = serializers.CharField()
    account_id = serializers.UUIDField()
    created_at = serializers.DateTimeField(
        source="said_at", help_text="When it was said; where that is not known, when it was stored."
    )
    snippet = serializers.CharField()
    marks = serializers.SerializerMethodField(
        help_text="Where the words stand, in characters of the snippet."
    )
    is_partly_indexed = serializers.BooleanField(
        help_text="True where only the first 200,000 characters of the text are searched."
    )

    def get_message_id(self, hit: WordHit) -> str:
        return public_ids.message_id(hit.conversation_id, hit.seq)

    @extend_schema_field(MarkAnswer(many=True))
    def get_marks(self, hit: WordHit) -> list[dict[str, int]]:
        return [{"start": start, "end": end} for start, end in hit.marks]


class SearchQuery(serializers.Serializer):
    """All of it together; what is left out narrows nothing."""

    q = serializers.CharField(
        max_length=_LONGEST, help_text='Words (all of them), `"phrases"`, `-excluded` words, `prefix*`.'
    )
    account = serializers.CharField(max_length=255, required=False, help_text="The account’s external id.")
    conversation_id = serializers.UUIDField(required=False)
    tool = serializers.CharField(max_length=255, required=False)
    model = serializers.CharField(max_length=255, required=False, help_text="Asked for or served.")
    status = serializers.ChoiceField(
        choices=GenerationStatus.choices, required=False, help_text="With an attempt that was so."
    )
    since = serializers.DateTimeField(required=False, help_text="Said at or after this time.")
    until = serializers.DateTimeField(required=False)
    limit = serializers.IntegerField(min_value=1, max_value=LIMIT, default=LIMIT)


class SearchView(ApiView):
    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="search",
        summary="Search words",
        tags=["Search"],
        parameters=[SearchQuery],
        responses=list_of(HitAnswer, name="HitList"),
        description=(
            f"The newest texts of the first {MOST_PLACES:,} places that hold all the words. There are no"
            " further pages: narrow the search, or move `until` to the last hit’s time."
        ),
    )
    def get(self, request: Request) -> Response:
        given = self.read_query(SearchQuery)
        account_id = self._account(given["account"]) if "account" in given else None
        is_nobodys = "account" in given and account_id is None
        hits = [] if is_nobodys else self._hits(given, account_id)
        self.log_read(
            target_kind=TargetKind.LIST,
            target_id="search",
            conversation_id=given.get("conversation_id"),
            account_id=account_id,
            row_count=len(hits),
        )
        return Response({"data": HitAnswer(hits, many=True).data, "next": None, "previous": None})

    def _hits(self, given: dict[str, Any], account_id: UUID | None) -> list[WordHit]:
        within = Within(
            realm_ids=[self.realm_id],
            account_id=account_id,
            conversation_id=given.get("conversation_id"),
            tool_name=given.get("tool", ""),
            model=given.get("model", ""),
            status=given.get("status", ""),
            since=given.get("since"),
            until=given.get("until"),
        )
        return search_words(text=given["q"], within=within, limit=given["limit"])

    def _account(self, external_id: str) -> UUID | None:
        accounts = Account.objects.filter(realm_id=self.realm_id, external_id=external_id)
        return accounts.values_list("pk", flat=True).first()
