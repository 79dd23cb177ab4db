"""Jobs that an application may start, and how far any run of its realm is.

A run belongs to a realm by what it works on: a conversation, a reconciliation, an erasure request.
Runs over everything (a purge, the sweeper) are nobody's and are not shown here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from uuid import UUID

from django.db import transaction
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from access.api.views import ApiView
from access.models import Scope
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from conversations.api.looking_up import conversation_in
from conversations.api.parsing import ExactJsonParser
from conversations.errors import NotFoundError
from conversations.models import Conversation
from jobs.models import JobRun, RunState
from jobs.services.starting import start_job
from ledger.models import ReconciliationRun
from ledger.reconciliation.starting import KIND as RECONCILE
from ledger.reconciliation.starting import Asked, start_reconciliation
from retention.erasure.job import ERASE
from retention.models import ErasureRequest
from retention.services.erasing import find_request, run_again

VERIFY: Final = "conversations.verify_replay"


class VerifyParameters(serializers.Serializer):
    conversation = serializers.UUIDField()


class ReconcileParameters(serializers.Serializer):
    processor = serializers.CharField(max_length=32)
    since = serializers.DateTimeField()
    until = serializers.DateTimeField(help_text="Not included.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["until"] <= attrs["since"]:
            raise serializers.ValidationError({"until": "the period ends before it begins"})
        return attrs


class EraseParameters(serializers.Serializer):
    erasure = serializers.CharField(max_length=16, help_text="The request’s number; two people approved it.")


@dataclass(frozen=True, slots=True)
class Startable:
    """A kind that keys may start: the scope it takes, what it is told, and how it begins."""

    scope: Scope
    parameters: type[serializers.Serializer]
    start: Callable[["JobsView", dict[str, Any], str], JobRun]


def _start_verifying(view: "JobsView", given: dict[str, Any], reason: str) -> JobRun:
    conversation = conversation_in(view.realm_id, given["conversation"])
    view.concerns(conversation.account_id)
    return start_job(
        kind=VERIFY,
        scope=f"conversation {conversation.pk}",
        parameters={"conversation": str(conversation.pk)},
        requested_by=(view.actor.kind, view.actor.id),
        reason=reason,
        now=view.now,
    )


def _start_reconciling(view: "JobsView", given: dict[str, Any], reason: str) -> JobRun:
    asked = Asked(
        realm=view.key.realm, processor=given["processor"], since=given["since"], until=given["until"]
    )
    run = start_reconciliation(asked=asked, actor=view.actor, now=view.now, reason=reason)
    if run.job is None:
        raise RuntimeError("a reconciliation was queued without its job")
    return run.job


def _start_erasing_on(view: "JobsView", given: dict[str, Any], reason: str) -> JobRun:
    request = find_request(number=given["erasure"], realm_id=view.realm_id)
    return run_again(request_id=request.pk, actor=view.actor, now=view.now)


STARTABLE: Final[dict[str, Startable]] = {
    VERIFY: Startable(Scope.WRITE, VerifyParameters, _start_verifying),
    RECONCILE: Startable(Scope.EFFECTS, ReconcileParameters, _start_reconciling),
    ERASE: Startable(Scope.PRIVACY, EraseParameters, _start_erasing_on),
}


class JobErrorAnswer(serializers.Serializer):
    code = serializers.CharField(source="error_code")
    detail = serializers.CharField(source="error")
    place = serializers.CharField(source="error_place")


class JobAnswer(serializers.Serializer):
    """One run. `done` of `total` are `unit`; the total is null until it is known."""

    id = serializers.UUIDField()
    kind = serializers.CharField()
    state = serializers.ChoiceField(choices=RunState.choices)
    parameters = serializers.DictField()
    is_dry_run = serializers.BooleanField()
    done = serializers.IntegerField()
    total = serializers.IntegerField(allow_null=True)
    unit = serializers.CharField()
    counts = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()),
        help_text="By step, then by what was counted.",
    )
    report = serializers.DictField(allow_null=True)
    error = JobErrorAnswer(source="*", help_text="All empty where nothing failed.")
    queued_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class JobRequest(serializers.Serializer):
    """Which job, about what, and why."""

    kind = serializers.ChoiceField(choices=sorted(STARTABLE))
    parameters = serializers.DictField(help_text="As the kind takes them.")
    reason = serializers.CharField(
        max_length=500, required=False, default="", allow_blank=True, help_text="No personal data."
    )


class JobsView(ApiView):
    """Each kind has its own scope, so the view is open and the kind is asked."""

    scopes: ClassVar = {}
    parser_classes = (ExactJsonParser,)

    @extend_schema(
        operation_id="start_job",
        summary="Start a job",
        tags=["Jobs"],
        request=JobRequest,
        responses={202: JobAnswer},
        examples=[
            OpenApiExample(
                "Verify one conversation",
                request_only=True,
                value={
                    "kind": VERIFY,
                    "parameters": {"conversation": "0193a1b2-4c5d-7000-8000-00000000002a"},
                    "reason": "after an import",
                },
            )
        ],
    )
    def post(self, request: Request) -> Response:
        """`conversations.verify_replay` {`conversation`}: rebuild each recorded body, compare its digest.
        Scope `write`.

        `ledger.reconcile` {`processor`, `since`, `until`}: compare ledger and conversations. Scope `effects`.

        `retention.erase` {`erasure`}: go on with a request that two people approved and that was held or
        failed in part. Scope `privacy`. No key approves one.

        Where a run of the same kind about the same is active: 409 `job-overlaps`, naming it.
        """
        given = self.read_body(JobRequest)
        kind, reason = given["kind"], given["reason"]
        startable = STARTABLE[kind]
        refuse_without(self, startable.scope)
        parameters = startable.parameters(data=given["parameters"])
        if not parameters.is_valid():
            raise serializers.ValidationError({"parameters": parameters.errors})
        with transaction.atomic():
            run = startable.start(self, parameters.validated_data, reason)
            log_access(
                actor=self.actor,
                action=AccessAction.JOB_START,
                target_kind=TargetKind.JOB,
                target_id=str(run.pk),
                realm_id=self.realm_id,
                now=self.now,
                address=self.address,
            )
        location = reverse("api:v1:job", args=[run.pk], request=request)
        return Response(JobAnswer(run).data, status=202, headers={"Location": location})


class JobView(ApiView):
    """Open to the scope that its kind takes to be started."""

    scopes: ClassVar = {}

    @extend_schema(operation_id="job", summary="One run of a job", tags=["Jobs"], responses=JobAnswer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """How far it is, what it counted, and how it ended: whoever started it, if it is of the realm."""
        run = JobRun.objects.filter(pk=run_id, kind__in=STARTABLE).first()
        if run is None or _realm_of(run) != self.realm_id:
            raise NotFoundError("no-job", "there is no such run", place=f"job {run_id}")
        refuse_without(self, STARTABLE[run.kind].scope)
        return Response(JobAnswer(run).data)


def may_see(view: ApiView, run: JobRun) -> bool:
    """Tell whether `GET /jobs/{id}` would show this run to the key."""
    startable = STARTABLE.get(run.kind)
    return startable is not None and startable.scope in view.key.scopes and _realm_of(run) == view.realm_id


def refuse_without(view: ApiView, scope: Scope) -> None:
    if scope not in view.key.scopes:
        raise PermissionDenied(f"this key does not have the scope “{scope}”")


def _realm_of(run: JobRun) -> int | None:
    """Return whose run it is, by what it works on; None where that is everybody, or has gone."""
    if run.kind == VERIFY:
        named = run.parameters.get("conversation")
        conversations = Conversation.objects.filter(pk=named) if named else Conversation.objects.none()
        return conversations.values_list("account__realm_id", flat=True).first()
    if run.kind == RECONCILE:
        return ReconciliationRun.objects.filter(job=run).values_list("realm_id", flat=True).first()
    return ErasureRequest.objects.filter(pk=run.scope).values_list("realm_id", flat=True).first()
