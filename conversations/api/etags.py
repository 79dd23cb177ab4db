"""ETags of conversations: the number of the head's last move, then a digest of what was answered.

`If-None-Match` compares the whole; `If-Match`, which guards a move of the head, the number alone.
"""

import hashlib
import re
from typing import Final

from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.request import Request

_TAG: Final = re.compile(r'\s*(?:W/)?"([^"]*)"\s*\Z')
_MOVE: Final = re.compile(r"(\d{1,9})(?:-[0-9a-f]{16})?\Z")


class HeadHasMoved(APIException):
    status_code = status.HTTP_412_PRECONDITION_FAILED
    default_detail = "the head has moved since it was read; read the conversation again"
    default_code = "head-moved"


def etag_of(move: int, body: bytes) -> str:
    return f'"{move}-{hashlib.sha256(body).hexdigest()[:16]}"'


def move_etag(move: int) -> str:
    return f'"{move}"'


def matches(request: Request, etag: str) -> bool:
    """Whether `If-None-Match` holds the tag; weak and strong ones compare alike there."""
    given = request.headers.get("If-None-Match", "")
    return given.strip() == "*" or etag in {f'"{tag}"' for tag in _tags(given)}


def expected_moves(request: Request) -> set[int] | None:
    """Return the moves that `If-Match` allows; None where it asks for nothing. An unknown tag allows none."""
    given = request.headers.get("If-Match")
    if given is None or given.strip() == "*":
        return None
    return {int(found[1]) for tag in _tags(given) if (found := _MOVE.match(tag))}


def _tags(header: str) -> list[str]:
    return [found[1] for one in header.split(",") if (found := _TAG.match(one))]
