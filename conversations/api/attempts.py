"""What requests say of attempts: how one begins, begins again, and ends."""

from typing import Any, Final
from uuid import UUID

from rest_framework import serializers

from conversations.api.fields import CountField, JsonTextField
from conversations.api.said import GivenWords, said_of
from conversations.errors import NotFoundError, StoreError
from conversations.models import Generation, Summary
from conversations.services.generations import Attempt, Outcome
from conversations.services.recording.exchange import PROVIDERS
from conversations.services.recording.storable import fitted, storable
from conversations.services.saying.messages import draft_message
from conversations.services.turns import Again
from conversations.vocabulary import Dialect, GenerationStatus, Role
from conversations.wire.dialects import module_for
from conversations.wire.literals import readable_copy
from conversations.wire.shapes import ParsedResponse, Usage
from conversations.wire.usage import usage_in

_REQUEST_ID: Final = "Names the user's action; repeats over its retries, and makes them once only."
_FINISHED: Final = (
    GenerationStatus.COMPLETE,
    GenerationStatus.TRUNCATED,
    GenerationStatus.REFUSED,
    GenerationStatus.INTERRUPTED,
)
_FAILED: Final = (GenerationStatus.FAILED, GenerationStatus.INTERRUPTED)


class GivenAttempt(serializers.Serializer):
    """An attempt that begins now."""

    request_id = serializers.CharField(max_length=255, help_text=_REQUEST_ID)
    model = serializers.CharField(max_length=255, help_text="The model that is asked for.")
    dialect = serializers.ChoiceField(choices=Dialect.choices)
    attempt = CountField(default=1, min_value=1, help_text="Counts retries and fallbacks of one request.")
    provider = serializers.CharField(
        required=False, max_length=32, help_text="Who is asked; the dialect's own provider if left out."
    )
    prompt_version = serializers.CharField(required=False, max_length=64)
    api_version = serializers.CharField(required=False, max_length=64)
    beta_headers = serializers.CharField(required=False, max_length=1024)
    summary_id = serializers.UUIDField(required=False, help_text="The summary in front of the path.")


class GivenAgain(GivenAttempt):
    """Another attempt; what is left out is as in the one before."""

    model = serializers.CharField(max_length=255, required=False)
    dialect = serializers.ChoiceField(choices=Dialect.choices, required=False)


def attempt_of(given: dict[str, Any], *, conversation_id: UUID) -> Attempt:
    dialect = Dialect(given["dialect"])
    return Attempt(
        request_id=given["request_id"],
        attempt=given["attempt"],
        provider=given.get("provider") or PROVIDERS[dialect],
        dialect=dialect,
        requested_model=given["model"],
        prompt_version=given.get("prompt_version", ""),
        api_version=given.get("api_version", ""),
        beta_headers=given.get("beta_headers", ""),
        summary_id=_summary(given, conversation_id),
    )


def again_of(given: dict[str, Any], *, conversation_id: UUID) -> Again:
    dialect = Dialect(given["dialect"]) if "dialect" in given else None
    return Again(
        request_id=given["request_id"],
        attempt=given["attempt"],
        model=given.get("model", ""),
        dialect=dialect,
        provider=given.get("provider") or (PROVIDERS[dialect] if dialect else ""),
        prompt_version=given.get("prompt_version"),
        api_version=given.get("api_version"),
        beta_headers=given.get("beta_headers"),
        summary_id=_summary(given, conversation_id),
    )


def _summary(given: dict[str, Any], conversation_id: UUID) -> UUID | None:
    summary_id: UUID | None = given.get("summary_id")
    if summary_id is None or Summary.objects.filter(pk=summary_id, conversation_id=conversation_id).exists():
        return summary_id
    raise NotFoundError(
        "no-summary", "the conversation has no such summary", place=f"conversation {conversation_id}"
    )


class GivenEnding(serializers.Serializer):
    """What is known when an attempt ends, however it ends."""

    usage = serializers.DictField(required=False, help_text="The provider's own usage object, as it came.")
    served_model = serializers.CharField(required=False, max_length=255)
    service_tier = serializers.CharField(required=False, max_length=32)
    http_status = serializers.IntegerField(required=False, min_value=100, max_value=999)
    provider_response_id = serializers.CharField(required=False, max_length=255)
    provider_request_id = serializers.CharField(required=False, max_length=255)
    first_token_ms = CountField(required=False)
    total_ms = CountField(required=False)


class GivenAnswer(GivenEnding):
    """An answer: `message`, or `response` as the provider sent it, from which all else is read."""

    status = serializers.ChoiceField(
        choices=[(status.value, status.label) for status in _FINISHED],
        required=False,
        help_text="`complete` if left out, or what the response says.",
    )
    stop_reason = serializers.CharField(required=False, max_length=64)
    message = GivenWords(required=False)
    response = JsonTextField(
        required=False, help_text="The provider's answer: an object, its exact text, or the event stream."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "message" in attrs and "response" in attrs:
            raise serializers.ValidationError("either `message` or `response`")
        return attrs


class GivenAgainAnswered(GivenAgain):
    """Another attempt; with `answer`, it is finished at once."""

    answer = GivenAnswer(required=False)


class GivenFailure(GivenEnding):
    """An attempt that brought no whole answer."""

    status = serializers.ChoiceField(
        choices=[(status.value, status.label) for status in _FAILED], default=GenerationStatus.FAILED
    )
    error_code = serializers.CharField(max_length=128, required=False)
    error_message = serializers.CharField(max_length=2_000, required=False)


def answer_of(given: dict[str, Any], *, dialect: Dialect) -> Outcome:
    """Return how the attempt ended, with its answer."""
    if "response" in given:
        body = given["response"].encode("utf-8", "surrogatepass")
        parsed: ParsedResponse = module_for(dialect).parse_response(body, given.get("http_status"))
        return _outcome_of_response(given, parsed)
    message = None
    if "message" in given:
        message = draft_message(said_of(given["message"], role=Role.ASSISTANT), dialect=dialect)
    return Outcome(
        status=GenerationStatus(given.get("status", GenerationStatus.COMPLETE)),
        message=message,
        stop_reason=given.get("stop_reason", ""),
        **_known(given, dialect),
    )


def failure_of(given: dict[str, Any], *, dialect: Dialect) -> Outcome:
    return Outcome(
        status=GenerationStatus(given["status"]),
        error_code=given.get("error_code", ""),
        error_message=given.get("error_message", ""),
        **_known(given, dialect),
    )


def _known(given: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    known: dict[str, Any] = {
        name: given[name]
        for name in (
            "served_model",
            "service_tier",
            "http_status",
            "provider_response_id",
            "provider_request_id",
            "first_token_ms",
            "total_ms",
        )
        if name in given
    }
    if "usage" in given:
        known["usage"] = usage_of(given, dialect=dialect)
    return known


def usage_of(given: dict[str, Any], *, dialect: Dialect) -> Usage:
    """Return the tokens that the provider's own object tells."""
    return _storable(usage_in(given["usage"], dialect=dialect))


def _storable(usage: Usage) -> Usage:
    try:
        usage.raw = storable(usage.raw)
    except RecursionError:
        raise StoreError("usage-not-storable", "the usage is nested too deep", place="usage") from None
    return usage


def _outcome_of_response(given: dict[str, Any], parsed: ParsedResponse) -> Outcome:
    status = GenerationStatus(given["status"]) if "status" in given else parsed.status
    return Outcome(
        status=status,
        message=parsed.message,
        served_model=fitted(parsed.served_model, 255),
        stop_reason=fitted(parsed.stop_reason, 64),
        error_code=fitted(parsed.error_code, 128),
        error_message=readable_copy(parsed.error_message),
        http_status=given.get("http_status"),
        usage=parsed.usage and _storable(parsed.usage),
        service_tier=fitted(parsed.service_tier, 32),
        provider_response_id=fitted(parsed.provider_response_id, 255),
        provider_request_id=given.get("provider_request_id", ""),
        first_token_ms=given.get("first_token_ms"),
        total_ms=given.get("total_ms"),
        notes=[readable_copy(note) for note in parsed.notes],
    )


def dialect_of(generation: Generation) -> Dialect:
    """Return what the attempt speaks; one from a foreign export speaks nothing and cannot be answered."""
    if not generation.dialect:
        raise StoreError(
            "dialect-unknown",
            "this attempt came from a foreign export and names no dialect",
            place=f"conversation {generation.conversation_id}, attempt {generation.number}",
        )
    return Dialect(generation.dialect)
