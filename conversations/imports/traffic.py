"""A recorded call to a provider, as an import file holds it."""

from dataclasses import dataclass, field
from datetime import datetime

from conversations.vocabulary import Dialect


@dataclass(slots=True)
class TrafficCall:
    """Both bodies of one call; `exchange_id` makes it once only, `conversation_ref` may name its place."""

    place: str
    exchange_id: str
    dialect: Dialect
    request_body: bytes
    response_body: bytes | None
    provider: str = ""
    http_status: int | None = None
    conversation_ref: str = ""
    account_external_id: str = ""
    request_id: str = ""
    api_version: str = ""
    beta_headers: str = ""
    provider_request_id: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    raw: bytes | None = None
    notes: list[str] = field(default_factory=list)
