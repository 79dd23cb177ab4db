"""What an exchange says about its attempt, as columns of Generation: fitted, storable, priced."""

from datetime import datetime
from typing import Any

from conversations.services.generations import WHOLE_ANSWERS, cost_columns, usage_columns
from conversations.services.recording.attempts import AttemptName
from conversations.services.recording.exchange import ProviderCall, Reading
from conversations.services.recording.storable import fitted, storable
from conversations.vocabulary import GenerationStatus, HistoryMatch
from conversations.wire.literals import readable_copy
from conversations.wire.shapes import Usage

# HTTP has three digits; proxies make up others.
_LARGEST_STATUS = 999
_LONGEST_MS = 2**31 - 1


def generation_columns(reading: Reading, name: AttemptName, match: HistoryMatch) -> dict[str, Any]:
    call, response = reading.call, reading.response
    model = "" if reading.request is None else reading.request.model
    columns: dict[str, Any] = {
        "request_id": name.request_id,
        "attempt": name.number,
        "provider": fitted(call.provider, 32),
        "dialect": call.dialect.value,
        "api_version": fitted(call.api_version, 64),
        "beta_headers": fitted(call.beta_headers, 1024),
        "requested_model": fitted(model, 255),
        "served_model": fitted(response.served_model, 255),
        "service_tier": fitted(response.service_tier, 32),
        "prompt_version": fitted(call.prompt_version, 64),
        "match": match.value,
        "status": response.status.value,
        "stop_reason": fitted(response.stop_reason, 64),
        "error_code": fitted(response.error_code, 128),
        "error_message": readable_copy(response.error_message),
        "http_status": _fitting_status(call.http_status),
        "notes": [readable_copy(note) for note in (*reading.notes, *response.notes)],
        "provider_response_id": fitted(response.provider_response_id, 255),
        "provider_request_id": fitted(call.provider_request_id, 255),
        **_hosted_columns(reading),
        **_time_columns(call, response.status),
    }
    # Always the same columns: the statement that writes them stays prepared.
    usage = response.usage or Usage()
    columns |= {**usage_columns(usage), "usage": storable(usage.raw) if response.usage else None}
    cost = cost_columns(
        provider=call.provider,
        model=response.served_model or model,
        usage=response.usage,
        at=call.began_at,
        service_tier=response.service_tier,
        is_complete=response.status in WHOLE_ANSWERS,
    )
    return {**columns, **cost}


def _fitting_status(status: int | None) -> int | None:
    return status if status is not None and 0 <= status <= _LARGEST_STATUS else None


def _hosted_columns(reading: Reading) -> dict[str, str]:
    request, response = reading.request, reading.response
    asked = "" if request is None else request.hosted_conversation_id
    previous = "" if request is None else request.previous_response_id
    return {
        "previous_response_id": fitted(previous, 255),
        "hosted_conversation_id": fitted(asked or response.hosted_conversation_id, 255),
    }


def _time_columns(call: ProviderCall, status: GenerationStatus) -> dict[str, Any]:
    finished_at = None if status in GenerationStatus.open() else call.finished_at or call.now
    return {
        "created_at": call.began_at,
        "finished_at": finished_at,
        "first_token_ms": _milliseconds(call.started_at, call.first_token_at),
        "total_ms": _milliseconds(call.started_at, call.finished_at),
    }


def _milliseconds(start: datetime | None, end: datetime | None) -> int | None:
    if start is None or end is None:
        return None
    took = max(0, round((end - start).total_seconds() * 1000))
    # Weeks say that a clock was wrong, not how long an answer took.
    return took if took <= _LONGEST_MS else None
