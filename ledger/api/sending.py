"""Around the request that the application sends itself: before its socket opens, and once it was answered."""

import base64
import binascii
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope
from conversations.api.parsing import ExactJsonParser
from ledger.api.effects import find_effect
from ledger.api.shapes import EffectAnswer, SentRequest, SettledAnswer, SettleRequest
from ledger.services.hearing import RawAnswer, hear_answer, work_on_what_waited
from ledger.services.sending import mark_sent, settle_by_report
from ledger.services.settling import Settled
from ledger.vocabulary import EffectState


class SentView(ApiView):
    """Its answer is never kept: a repeat must be judged by the clock anew."""

    scopes: ClassVar = {"POST": Scope.EFFECTS}
    parser_classes = (ExactJsonParser,)
    is_once_by_itself = True

    @extend_schema(
        operation_id="mark_effect_sent",
        summary="Say that the request is about to leave",
        tags=["Effects"],
        request=SentRequest,
        responses=EffectAnswer,
    )
    def post(self, request: Request, effect_id: UUID) -> Response:
        """Open the socket to the processor only after this was answered with 200: it is committed then.

        The first time counts. Refused where the effect is settled (`effect-settled`: use its outcome)
        and where the processor may have forgotten the key (`key-expired`: do not send).
        """
        wanted = SentRequest(data=request.data or {})
        wanted.is_valid(raise_exception=True)
        find_effect(effect_id=effect_id, realm_id=self.realm_id)
        effect = mark_sent(effect_id=effect_id, now=self.now, find_by=wanted.validated_data.get("find_by"))
        return Response(EffectAnswer(effect).data)


class SettleView(ApiView):
    """Safe to repeat: what is known already changes nothing."""

    scopes: ClassVar = {"POST": Scope.EFFECTS}
    parser_classes = (ExactJsonParser,)
    is_once_by_itself = True

    @extend_schema(
        operation_id="settle_effect",
        summary="Settle by what the processor answered",
        tags=["Effects"],
        request=SettleRequest,
        responses=SettledAnswer,
        examples=[
            OpenApiExample(
                "The answer itself",
                request_only=True,
                value={"response": {"http_status": 200, "body": "eyJpZCI6ICJwaV8x…", "request_id": "req_1"}},
            ),
            OpenApiExample(
                "A report",
                request_only=True,
                value={"report": {"outcome": "applied", "reference": "booking-8841", "amount_minor": 1900}},
            ),
        ],
    )
    def post(self, request: Request, effect_id: UUID) -> Response:
        """Hand in the processor's answer, byte for byte, errors too: a declined card settles as failed.

        A lost answer, a 409, a 429 and a 5xx settle nothing: the effect stays open, the sweeper looks, and
        the call may begin again. A processor without an adapter is settled by a report that names the
        processor's own object.
        """
        given = self.read_body(SettleRequest)
        effect = find_effect(effect_id=effect_id, realm_id=self.realm_id)
        if "response" in given:
            settled = hear_answer(
                effect_id=effect_id, raw=_raw(given["response"]), actor=self.actor, now=self.now
            )
        else:
            settled = self._report(effect_id, dict(given["report"]))
        effect.refresh_from_db()
        said = {
            "effect": effect,
            "has_moved": settled is not None and settled.has_moved,
            "contradictions": [] if settled is None else [str(kind) for kind in settled.contradictions],
        }
        return Response(SettledAnswer(said).data)

    def _report(self, effect_id: UUID, report: dict[str, Any]) -> Settled:
        outcome = EffectState(report.pop("outcome"))
        settled = settle_by_report(
            effect_id=effect_id, outcome=outcome, actor=self.actor, now=self.now, **report
        )
        work_on_what_waited(effect=settled.effect, now=self.now)
        return settled


def _raw(response: dict[str, Any]) -> RawAnswer:
    try:
        body = base64.b64decode(response["body"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValidationError({"response": {"body": [f"This is no base64: {error}"]}}) from error
    return RawAnswer(status=response["http_status"], body=body, request_id=response["request_id"])
