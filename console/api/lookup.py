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
from console.api.jobs import may_see
from console.search.desks import JOB
from console.search.place import Place
from console.search.places import ExactSearch, find_places
from console.search.sight import Sight
from conversations import public_ids
from conversations.search.pasted import LONGEST, Pasted, read_pasted
from jobs.models import JobRun

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
    "job_run",
    "reconciliation_run",
    "statement",
    "alert",
    "question",
    "legal_hold",
    "erasure_request",
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
    record_id = serializers.CharField(
        help_text="Of findings, runs, statements, holds and erasure requests: their own id (of an alert, its"
        " run’s); else empty."
    )
    record_name = serializers.CharField(
        source="label",
        help_text="What it is called on the console’s pages: a job’s kind, a file’s name, a hold’s matter, a"
        " request’s number; else empty.",
    )
    account_id = serializers.UUIDField(allow_null=True)
    tool = serializers.CharField(source="name", help_text="Of calls, effects and questions; else empty.")
    state = serializers.CharField(help_text="Of calls, effects and jobs; else empty.")
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
    end_so = PlaceAnswer(
        many=True,
        help_text="Where no place has the id itself: places of ids that end so (six characters or more). Ends"
        " of messages, calls and attempts are not searched for.",
    )
    hint = serializers.CharField(
        allow_null=True, help_text="The id as it is spelt, where it or its prefix is written in lower case."
    )


class LookupQuery(serializers.Serializer):
    id = serializers.CharField(
        max_length=LONGEST,
        help_text="Any id or e-mail address; quotes, URLs and other noise around it do not count. An id may"
        " be shortened, as screens show it: `…a1b2c3`, `toolu_01A7…Yh2P4n`.",
    )


class LookupView(ApiView):
    """What a key may work with it may find, as staff in the console find what their roles open."""

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

        With the scope `effects` too: effects, findings, statements, runs of reconciliation,
        alerts, questions. With `privacy`: holds and erasure requests. Runs of jobs: those that the key could
        ask for at `GET /jobs/{id}`.
        """
        query = LookupQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        pasted = read_pasted(query.validated_data["id"])
        found = find_places(pasted=pasted, sight=self._sight())
        self._log_person(pasted, found)
        said: dict[str, Any] = {
            "data": self._own(found.places),
            "begin_so": self._own(found.prefixed),
            "end_so": self._own(found.ending),
            "hint": next(iter(found.shouted), None),
        }
        return Response(LookupAnswer(said, context={"request": request}).data)

    def _sight(self) -> Sight:
        scopes = self.key.scopes
        return Sight(
            reach=self.application.reach,
            effects=Scope.EFFECTS in scopes,
            retention=Scope.PRIVACY in scopes,
            jobs=True,
        )

    def _own(self, places: list[Place]) -> list[Place]:
        """Leave out the runs of jobs that are another realm's, everybody's, or of another scope."""
        ids = {place.record_id for place in places if place.kind == JOB.kind}
        if not ids:
            return places
        seen = {str(run.pk) for run in JobRun.objects.filter(pk__in=ids) if may_see(self, run)}
        return [place for place in places if place.kind != JOB.kind or place.record_id in seen]

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
