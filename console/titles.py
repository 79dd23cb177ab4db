"""Titles of conversations, for who may read them.

A title is made from what was said, so it is read on the same ground as the texts: with a right that
needs no reason, or with one that was stated for this conversation. Everybody else sees by which
conversation it is, and when it began.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User

from access.models.log import StatedReason
from access.permissions import holds
from access.reading import as_application
from access.rights import RightName
from console.moments import moment_text
from conversations.models import Conversation


@dataclass(frozen=True, slots=True)
class Titles:
    """`opened` are the conversations whose titles may be read; None is all of them."""

    opened: frozenset[UUID] | None = frozenset()

    def may_read(self, conversation_id: UUID | None) -> bool:
        return self.opened is None or conversation_id in self.opened

    def of(self, conversation: Conversation) -> str:
        return title_of(conversation, is_open=self.may_read(conversation.pk))

    def in_list(self, conversation: Conversation) -> str:
        """Return the title for a row that has its times in columns of their own."""
        is_titled = self.may_read(conversation.pk) and conversation.title.strip()
        return conversation.title if is_titled else label_of(conversation.pk)


def titles_for(*, user: User, ids: Collection[UUID], now: datetime) -> Titles:
    """Return which of these conversations' titles `user` may read now; one query where reasons count."""
    if holds(user, RightName.READ_BODIES_FREELY):
        return Titles(opened=None)
    if not ids or not holds(user, RightName.READ_BODIES):
        return Titles()
    reasons = StatedReason.objects.filter(user=user, conversation_id__in=ids, valid_until__gt=now)
    with as_application():
        return Titles(frozenset(reasons.values_list("conversation_id", flat=True)))


def titles_in_list(ids: Collection[UUID], *, user: User, now: datetime) -> dict[UUID, str]:
    """Return the titles of these conversations, for rows that have their times beside them; two queries."""
    readable = titles_for(user=user, ids=ids, now=now)
    return {found.pk: readable.in_list(found) for found in Conversation.objects.filter(pk__in=ids)}


def title_of(conversation: Conversation, *, is_open: bool) -> str:
    """Return the title; of one that is untitled or not open, which it is and when it began."""
    if is_open and conversation.title.strip():
        return conversation.title
    began = moment_text(conversation.started_at or conversation.created_at)
    return f"{label_of(conversation.pk)}, {began}"


def label_of(conversation_id: UUID) -> str:
    """Return a name for a conversation that tells nothing of it: the end of its id."""
    return f"Conversation …{conversation_id.hex[-6:]}"
