"""Addresses within the pages of a conversation."""

from functools import lru_cache
from urllib.parse import urlencode
from uuid import UUID

from django.urls import NoReverseMatch, reverse

# Pages that other parts of the console may bring; until one does, its link leads nowhere.
_EFFECT_PAGES = ("console:effect", "ledger:effect")


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


def effect_url(effect_id: UUID, *, conversation_id: UUID, seq: int | None) -> str:
    """Return the link to an effect's own page, or to its call where there is no such page."""
    for name in _EFFECT_PAGES:
        try:
            return reverse(name, args=[effect_id])
        except NoReverseMatch:
            continue
    return message_url(conversation_id, seq) if seq else conversation_url(conversation_id)


def page_url(name: str, *args: object) -> str:
    """Return the address of a page, or nothing where the console has no such page."""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""
