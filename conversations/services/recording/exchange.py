"""One call to a provider, as its recorder hands it over, and what became of it."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from access.actors import Actor
from conversations.services.recording.storable import fitted
from conversations.vocabulary import BodyProof, Dialect, GenerationStatus, HistoryMatch
from conversations.wire.dialects import module_for
from conversations.wire.shapes import ParsedRequest, ParsedResponse, Violation, WireError
from conversations.wire.streams.events import is_event_stream
from conversations.wire.validate import find_request_violations

PROVIDERS = {
    Dialect.ANTHROPIC_MESSAGES: "anthropic",
    Dialect.OPENAI_CHAT: "openai",
    Dialect.OPENAI_RESPONSES: "openai",
}
LONGEST_ID = 255


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """The two bodies of one HTTP attempt as they crossed the wire, and what the client knows of it.

    `exchange_id` is made by the caller, one for each attempt. `request_id` names
    the user's action that the attempt served, and repeats over its retries.
    """

    account_id: UUID
    realm_id: int
    request_body: bytes
    response_body: bytes | None
    dialect: Dialect
    provider: str
    actor: Actor
    now: datetime
    http_status: int | None = None
    exchange_id: str = ""
    conversation_id: UUID | None = None
    request_id: str = ""
    prompt_version: str = ""
    api_version: str = ""
    beta_headers: str = ""
    provider_request_id: str = ""
    started_at: datetime | None = None
    first_token_at: datetime | None = None
    finished_at: datetime | None = None

    @property
    def began_at(self) -> datetime:
        return self.started_at or self.now


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """Where an exchange stands. `answer_seq` is None where no answer is kept.

    `was_known` says that it had been recorded before and nothing was written.
    """

    conversation_id: UUID
    generation_number: int
    request_id: str
    attempt: int
    status: GenerationStatus
    match: HistoryMatch
    proof: BodyProof
    leaf_seq: int | None
    answer_seq: int | None
    new_seqs: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    was_known: bool = False
    # Of what was recorded before; None where the body was cut, or its digest is gone.
    body_sha256: bytes | None = field(default=None, repr=False, compare=False)
    request: ParsedRequest | None = field(default=None, repr=False, compare=False)

    @property
    def violations(self) -> list[Violation]:
        """The provider's rules that the request broke: warnings, worked out when they are asked for."""
        return [] if self.request is None else find_request_violations(self.request)


@dataclass(slots=True)
class Reading:
    """Both bodies, read. `request` is None where the body is no conversation; `trouble` says why."""

    call: ProviderCall
    request: ParsedRequest | None
    response: ParsedResponse
    trouble: str = ""
    notes: list[str] = field(default_factory=list)
    # The provider has given its id for the answer to another exchange before.
    is_response_id_repeated: bool = False

    @property
    def body_digest(self) -> bytes:
        return hashlib.sha256(self.call.request_body).digest()

    @property
    def exchange_key(self) -> str:
        """What makes the exchange once only: its caller's id, else the provider's for the answer."""
        if self.call.exchange_id:
            return fitted(self.call.exchange_id, LONGEST_ID)
        if self.response.provider_response_id:
            told = f"response:{self.response.provider_response_id}"
            return fitted(
                f"{told}:{self.body_digest.hex()}" if self.is_response_id_repeated else told, LONGEST_ID
            )
        return ""

    @property
    def is_stream(self) -> bool:
        return is_event_stream(self.call.response_body or b"")


def read_exchange(call: ProviderCall) -> Reading:
    """Read both bodies. Never refuses: what cannot be read is kept verbatim and said so."""
    wire = module_for(call.dialect)
    request: ParsedRequest | None = None
    trouble = ""
    try:
        request = wire.parse_request(call.request_body)
    except WireError as error:
        trouble = f"the request is no conversation: {error}"
    return Reading(call=call, request=request, response=_read_response(call), trouble=trouble)


def _read_response(call: ProviderCall) -> ParsedResponse:
    if call.response_body is None:
        # Nobody can say whether the provider answered, and billed: the attempt stays, its cost unknown.
        return ParsedResponse(status=GenerationStatus.INTERRUPTED, message=None, notes=["no answer arrived"])
    response: ParsedResponse = module_for(call.dialect).parse_response(call.response_body, call.http_status)
    return response
