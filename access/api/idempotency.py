"""`Idempotency-Key` on a POST: the first answer is kept, and a repeat gets it again."""

from typing import Final

from django.http import HttpResponse
from django.utils import timezone
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from access.models import ApiKey, StoredAnswer
from access.services.answers import (
    Claim,
    KeyReusedError,
    StillWorkingError,
    claim_answer,
    request_digest,
)

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotent-Replayed"
KEPT_HEADERS: Final = ("Content-Type", "ETag", "Location")
_LONGEST: Final = 255


class BadIdempotencyKey(APIException):
    status_code = status.HTTP_400_BAD_REQUEST
    default_detail = f"{HEADER} must be 1 to {_LONGEST} visible ASCII characters"
    default_code = "idempotency-key-unfit"


class IdempotencyKeyReused(APIException):
    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_detail = f"this {HEADER} was used for another request"
    default_code = "idempotency-key-reused"


class StillWorking(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_detail = f"the first request with this {HEADER} is still being worked on; ask again in a moment"
    default_code = "request-in-progress"
    wait = 1


def begin_once(request: Request, key: ApiKey) -> Claim | StoredAnswer | None:
    """Claim the request's key, or return what was answered before; None where it names no key."""
    named = request.headers.get(HEADER)
    if named is None:
        return None
    if not (0 < len(named) <= _LONGEST and named.isascii() and named.isprintable()):
        raise BadIdempotencyKey
    digest = request_digest(
        method=str(request.method),
        path=request.get_full_path(),
        body=request.body,
    )
    try:
        return claim_answer(key=key, idempotency_key=named, digest=digest, now=timezone.now())
    except KeyReusedError:
        raise IdempotencyKeyReused from None
    except StillWorkingError:
        raise StillWorking from None


def replayed(stored: StoredAnswer) -> HttpResponse:
    """The first answer again, marked as such."""
    response = HttpResponse(bytes(stored.body), status=stored.status)
    for name, value in stored.headers.items():
        response[name] = value
    response[REPLAYED] = "true"
    return response
