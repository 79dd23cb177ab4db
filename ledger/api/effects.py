"""Effects: begin and look up.

No answer of these addresses is kept for an `Idempotency-Key`: each says what may be done *now*. A kept
`proceed` that is handed out again a day later would send under a key that the processor has forgotten.
A repeat is harmless by the call itself.
"""

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.views import ApiView
from access.models import Scope
from conversations.api.listing import (
    filter_parameters,
    filtered,
    list_answer,
    list_of,
    page_of,
    page_parameters,
)
from conversations.api.looking_up import conversation_in
from conversations.api.parsing import ExactJsonParser
from conversations.errors import ConflictError, NotFoundError
from conversations.models import ToolCall
from ledger.api.filters import EffectFilter
from ledger.api.shapes import (
    BeginRequest,
    BegunAnswer,
    EffectAnswer,
    MoveAnswer,
    StandingEffectAnswer,
)
from ledger.errors import CallNotRecordedError
from ledger.models import ToolEffect
from ledger.querysets import standings
from ledger.services.arguments import place_of
from ledger.services.beginning import begin_effect
from ledger.vocabulary import Operation

_MOST_PLACES = 2


def find_effect(*, effect_id: UUID, realm_id: int) -> ToolEffect:
    """Raises NotFoundError for one of another realm as for one that is not there."""
    found = ToolEffect.objects.filter(pk=effect_id, realm_id=realm_id).first()
    if found is None:
        raise NotFoundError("no-effect", "there is no such effect", place=f"effect {effect_id}")
    return found


class EffectsView(ApiView):
    """Begin an effect; list effects."""

    scopes: ClassVar = {"GET": Scope.EFFECTS, "POST": Scope.EFFECTS}
    parser_classes = (ExactJsonParser,)
    is_once_by_itself = True

    @extend_schema(
        operation_id="list_effects",
        summary="List effects",
        tags=["Effects"],
        parameters=[*filter_parameters(EffectFilter), *page_parameters()],
        responses=list_of(StandingEffectAnswer, name="EffectList"),
    )
    def get(self, request: Request) -> Response:
        """What tools did at processors, newest first."""
        rows = filtered(request, EffectFilter, ToolEffect.objects.filter(realm_id=self.realm_id))
        page = page_of(request, rows, moment="requested_at")
        return Response(list_answer(request, page, _shown(page.rows)))

    @extend_schema(
        operation_id="begin_effect",
        summary="Begin: may this call go ahead, and under which key?",
        tags=["Effects"],
        request=BeginRequest,
        responses=BegunAnswer,
        examples=[
            OpenApiExample(
                "A charge",
                request_only=True,
                value={
                    "message_id": "0193a1b2-4c5d-7000-8000-00000000002a.m4",
                    "call_id": "toolu_01A09q90qw90lq917835lq9",
                    "find_by": {"customer": "cus_N1042"},
                },
            )
        ],
    )
    def post(self, request: Request) -> Response:
        """Ask before every call that touches the world; what is answered is a row before anything is sent.

        The call must be recorded already (`call-not-recorded`): without that, nothing may be sent. Asked
        again by the same call, it is answered from what became of it: `resume` or `replay`.
        """
        given = self.read_body(BeginRequest)
        call_id = given.pop("call_id")
        message, conversation_id = given.pop("message_id", None), given.pop("conversation_id", None)
        if message is not None:
            conversation_id, seq = message.conversation_id, message.number
        # Asked before anything is locked: a key must not hold up what it may not see.
        conversation_in(self.realm_id, conversation_id)
        if message is None:
            seq = _seq_of(conversation_id, call_id)
        if "operation" in given:
            given["operation"] = Operation(given["operation"])
        begun = begin_effect(
            conversation_id=conversation_id,
            seq=seq,
            call_id=call_id,
            realm_id=self.realm_id,
            actor=self.actor,
            now=self.now,
            **given,
        )
        return Response(BegunAnswer(begun).data)


class EffectView(ApiView):
    scopes: ClassVar = {"GET": Scope.EFFECTS}

    @extend_schema(
        operation_id="effect", summary="One effect", tags=["Effects"], responses=StandingEffectAnswer
    )
    def get(self, request: Request, effect_id: UUID) -> Response:
        """The effect as it stands now, and where its call stands in the conversation."""
        return Response(_shown([find_effect(effect_id=effect_id, realm_id=self.realm_id)])[0])


class HistoryView(ApiView):
    scopes: ClassVar = {"GET": Scope.EFFECTS}

    @extend_schema(
        operation_id="effect_history",
        summary="An effect’s history",
        tags=["Effects"],
        responses=list_of(MoveAnswer, name="EffectHistory"),
    )
    def get(self, request: Request, effect_id: UUID) -> Response:
        """Every move of its state with the evidence for it, first to last. Never rewritten."""
        effect = find_effect(effect_id=effect_id, realm_id=self.realm_id)
        moves = MoveAnswer(effect.moves.order_by("number"), many=True).data
        return Response({"data": moves, "next": None, "previous": None})


def _seq_of(conversation_id: UUID, call_id: str) -> int:
    """Return the message that holds the call of this id, where that is one."""
    calls = ToolCall.objects.filter(conversation_id=conversation_id, call_id=call_id)
    seqs = list(calls.order_by("-seq").values_list("seq", flat=True)[:_MOST_PLACES])
    if not seqs:
        raise CallNotRecordedError(place=f"conversation {conversation_id}, call {call_id}")
    if len(seqs) > 1:
        raise ConflictError(
            "call-ambiguous",
            "several messages of the conversation hold a call of this id; name the message",
            place=place_of(conversation_id=conversation_id, seq=seqs[0], call_id=call_id),
        )
    return seqs[0]


def _shown(effects: Sequence[ToolEffect]) -> list[dict[str, Any]]:
    where = standings(effects)
    rows = EffectAnswer(effects, many=True).data
    return [{**row, "standing": where[effect.pk].value} for effect, row in zip(effects, rows, strict=True)]
