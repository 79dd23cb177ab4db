"""Addresses within the pages of a conversation."""

from functools import lru_cache
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse


@lru_cache(maxsize=256)
def base_url(conversation_id: UUID) -> str:
    """Return the address of a conversation; one page has hundreds of links that begin with it."""
    return reverse("console:conversation", args=[conversation_id])


def conversation_url(conversation_id: UUID, **query: object) -> str:
    address = base_url(conversation_id)
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{address}?{urlencode(given)}" if given else address


def message_url(conversation_id: UUID, seq: int) -> str:
    """Return the link to a message: on whichever branch and however deep, the page opens there."""
    return f"{base_url(conversation_id)}?m={seq}#m{seq}"
