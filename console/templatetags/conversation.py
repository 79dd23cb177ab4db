"""Parts that only the pages of a conversation have."""

from uuid import UUID

from django.template import Library
from django.utils.safestring import SafeString

from console.markup.frames import siblings
from console.markup.standing import state
from console.quantities import NOTHING
from console.thread.links import message_url
from console.thread.siblings import Versions
from conversations.reads.attempts import ShownAttempt

register = Library()


@register.filter
def thousands(value: int | None) -> str:
    """{{ tokens|thousands }}: "3,118"; nothing is an en dash."""
    return NOTHING if value is None else f"{value:,}"


@register.simple_tag
def version_links(conversation_id: UUID, versions: Versions) -> SafeString:
    """{% version_links conversation.pk versions %}: ‹2/3›, each side a link that leaves the head alone."""
    return siblings(
        versions.at,
        versions.count,
        previous=message_url(conversation_id, versions.previous) if versions.previous else "",
        following=message_url(conversation_id, versions.following) if versions.following else "",
    )


@register.simple_tag
def message_link(conversation_id: UUID, seq: int) -> str:
    """{% message_link conversation.pk seq %}: the address of a message, wherever in the tree it is."""
    return message_url(conversation_id, seq)


@register.simple_tag
def attempt_state(attempt: ShownAttempt, words: str) -> SafeString:
    """{% attempt_state attempt words %}: how an attempt ended; `words` are the provider's, escaped here."""
    return state(attempt.status, words)
