"""`GET /lookup`: every exact place of an id, by the code that answers the console's search box."""

from typing import Any, ClassVar, Final

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from console.search.place import Place
from console.search.places import ExactSearch, find_places
from conversations import public_ids
from conversations.search.pasted import LONGEST, Pasted, read_pasted

_KINDS: Final = (
    "conversation",
    "message",
    "tool_call",
    "tool_result",
    "attempt",
    "account",
    "effect",
    "finding",
    "staff_note",
)


class KindField(serializers.ChoiceField):
    """The page's words for a kind, as a code."""

    def to_representation(self, value: str) -> str:
        return value.lower().replace(" ", "_")


class PlaceAnswer(serializers.Serializer):
    """One place of an id: what it is, and by which public ids it is asked for."""

    kind = KindField(choices=_KINDS)
    found_by = serializers.CharField(source="by", help_text="What sort of id it was, in words.")
    matched = serializers.CharField(source="ident")
    conversation_id = serializers.UUIDField(allow_null=True)
    message_id = serializers.SerializerMethodField()
    generation_id = serializers.SerializerMethodField()
    effect_id = serializers.UUIDField(allow_null=True)
    account_id = serializers.UUIDField(allow_null=True)
    tool = serializers.CharField(source="name", help_text="Of calls and effects; else empty.")
    state = serializers.CharField(help_text="Of calls and effects; else empty.")
    page = serializers.SerializerMethodField(help_text="The console’s page of it, for people.")

    def get_message_id(self, place: Place) -> str | None:
        if place.conversation_id is None or place.seq is None:
            return None
        return public_ids.message_id(place.conversation_id, place.seq)

    def get_generation_id(self, place: Place) -> str | None:
        if place.conversation_id is None or place.number is None:
            return None
        return public_ids.generation_id(place.conversation_id, place.number)

    def get_page(self, place: Place) -> str:
        request: Request = self.context["request"]
        return request.build_absolute_uri(place.url)


class LookupAnswer(serializers.Serializer):
    """All places of the id, at most fifty; none is no error."""

    data = PlaceAnswer(many=True)  # type: ignore[assignment]  # DRF's own name is of the class
    begin_so = PlaceAnswer(
        many=True, help_text="Where no place has the id itself: places of longer ids that begin so."
    )
    hint = serializers.CharField(
        allow_null=True, help_text="The id as it is spelt, where it or its prefix is written in lower case."
    )


class LookupQuery(serializers.Serializer):
    id = serializers.CharField(
        max_length=LONGEST,
        help_text="Any id or e-mail address; quotes, URLs and other noise around it do not count.",
    )


class LookupView(ApiView):
    """Effects are found by keys that may work with effects, as in the console by staff who see them."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="look_up",
        summary="Look up any id",
        tags=["Search"],
        parameters=[LookupQuery],
        responses=LookupAnswer,
    )
    def get(self, request: Request) -> Response:
        """Ids of providers and processors, of the application and of ours: each is one probe of an index.

        Effects are looked for where the key has the scope `effects` too.
        """
        query = LookupQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        pasted = read_pasted(query.validated_data["id"])
        found = find_places(
            pasted=pasted, reach=self.application.reach, sees_effects=Scope.EFFECTS in self.key.scopes
        )
        self._log_person(pasted, found)
        said: dict[str, Any] = {
            "data": found.places,
            "begin_so": found.prefixed,
            "hint": next(iter(found.shouted), None),
        }
        return Response(LookupAnswer(said, context={"request": request}).data)

    def _log_person(self, pasted: Pasted, found: ExactSearch) -> None:
        """Whom somebody looked for: the account where it was found, never what was typed."""
        if not pasted.emails and not found.accounts:
            return
        log_access(
            actor=self.actor,
            action=AccessAction.SEARCH_PERSON,
            target_kind=TargetKind.ACCOUNT,
            target_id="lookup",
            realm_id=self.realm_id,
            account_id=found.accounts[0] if len(found.accounts) == 1 else None,
            row_count=len(found.accounts),
            now=self.now,
            address=self.address,
        )
