"""Refusals that only some addresses know, and how they are described."""

from typing import Final

from drf_spectacular.utils import OpenApiResponse
from rest_framework import status
from rest_framework.exceptions import APIException

PROBLEM: Final = "application/problem+json"


class _Placed(APIException):
    """A refusal that names a row of the store."""

    def __init__(self, detail: str, *, place: str) -> None:
        super().__init__(detail)
        self.place = place


class BodyGone(_Placed):
    """Bytes that a body was made of are gone for good."""

    status_code = status.HTTP_410_GONE
    default_code = "body-gone"


class BodyNotGiven(_Placed):
    """The body cannot be given or composed now; that may change."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "body-not-given"


def refusal(words: str) -> OpenApiResponse:
    """Describe problem details under a status of an address's own; its key is (status, PROBLEM)."""
    return OpenApiResponse({"$ref": "#/components/schemas/Problem"}, words)
