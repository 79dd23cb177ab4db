"""`POST /exchanges`: the door for recorders. docs/capture.md says how to come in by it."""

from datetime import datetime
from typing import Any, ClassVar, Final
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.parsing import JsonParser
from access.api.views import ApiView
from access.models import Scope
from conversations.api.exchange_parts import ExchangeParts
from conversations.api.exchange_shapes import Exchange, ExchangeAnswer, ExchangeAsParts
from conversations.models import Account
from conversations.public_ids import generation_id, message_id
from conversations.services.accounts import ensure_account
from conversations.services.recording import RecordedExchange, find_attempt, record_exchange
from conversations.services.starting import start_conversation
from conversations.vocabulary import Dialect, Source

_MOMENTS: Final = ("started_at", "first_token_at", "finished_at")
_FACTS: Final = (
    "exchange_id",
    "request_body",
    "response_body",
    "request_id",
    "prompt_version",
    "provider",
    "api_version",
    "beta_headers",
    "http_status",
    "provider_request_id",
)


class ExchangesView(ApiView):
    """One HTTP attempt at a provider goes in, whole and once."""

    scopes = {"POST": Scope.WRITE}
    parser_classes = (JsonParser, ExchangeParts)
    is_once_by_itself = True
    largest_body: ClassVar[int | None] = settings.EXCHANGE_BYTES_LIMIT

    @extend_schema(
        operation_id="record_exchange",
        summary="Record an exchange with a provider",
        tags=["Exchanges"],
        request={"application/json": Exchange, "multipart/form-data": ExchangeAsParts},
        responses={201: ExchangeAnswer, 200: ExchangeAnswer},
    )
    def post(self, request: Request) -> Response:
        """Nothing that crossed the wire is refused: what is broken is kept and marked.

        The exchange's id makes it once only: 201 when it was written now, 200 when it was there.
        """
        given = self.read_body(Exchange)
        recorded = self._record(given)
        answer = ExchangeAnswer(_answer(recorded, exchange_id=given["exchange_id"])).data
        return Response(answer, status=200 if recorded.was_known else 201)

    def _record(self, told: dict[str, Any]) -> RecordedExchange:
        facts = {name: told[name] for name in _FACTS} | {name: self._past(told[name]) for name in _MOMENTS}
        account = ensure_account(realm=self.key.realm, now=self.now, **told["account"])
        conversation_id = self._conversation_id(account, told, started_at=facts["started_at"])
        tried = find_attempt(account=account, exchange_id=told["retry_of"])
        if tried is not None and conversation_id in (None, tried.conversation_id):
            conversation_id = tried.conversation_id
            facts["request_id"] = facts["request_id"] or tried.request_id
        return record_exchange(
            account=account,
            conversation_id=conversation_id,
            dialect=Dialect(told["dialect"]),
            actor=self.actor,
            now=self.now,
            **facts,
        )

    def _conversation_id(
        self, account: Account, told: dict[str, Any], *, started_at: datetime | None
    ) -> UUID | None:
        """Return the id that is spelled, or that of the reference's conversation, begun if need be."""
        named = told["conversation"]
        if named and (spelled := _uuid(named)) is not None:
            return spelled
        reference = told["external_ref"] or named
        if not reference:
            return None
        return start_conversation(
            account_id=account.pk,
            now=self.now,
            source=Source.RECORDED,
            external_ref=reference,
            started_at=started_at,
        ).pk

    def _past(self, moment: datetime | None) -> datetime | None:
        """A caller's clock may be ahead; what is dated into the future would outlive its retention."""
        return None if moment is None else min(moment, self.now)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _answer(recorded: RecordedExchange, *, exchange_id: str) -> dict[str, Any]:
    conversation_id = recorded.conversation_id

    def spelled(seq: int | None) -> str | None:
        return None if seq is None else message_id(conversation_id, seq)

    return {
        "exchange_id": exchange_id,
        "was_known": recorded.was_known,
        "conversation": conversation_id,
        "generation": generation_id(conversation_id, recorded.generation_number),
        "request_id": recorded.request_id,
        "attempt": recorded.attempt,
        "status": recorded.status,
        "leaf_message": spelled(recorded.leaf_seq),
        "answer_message": spelled(recorded.answer_seq),
        "new_messages": [message_id(conversation_id, seq) for seq in recorded.new_seqs],
        "match": recorded.match,
        "proof": recorded.proof,
        "notes": list(recorded.notes),
        "warnings": recorded.violations,
    }
