"""Parts that only the pages of a conversation have."""

from uuid import UUID

from django.template import Library
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from console.hostile import visible
from console.markup.frames import siblings
from console.markup.standing import state
from console.quantities import MINUS, NOTHING
from console.thread.differing import Piece
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


@register.filter
def signed(value: int) -> str:
    """{{ difference|signed }}: "+2", "−45", "0"."""
    return f"+{value:,}" if value > 0 else f"{value:,}".replace("-", MINUS)


@register.simple_tag
def differing_words(pieces: list[Piece], side: str) -> SafeString:
    """{% differing_words pieces "a"|"b" %}: a text with what only this side says marked."""
    mark = "del" if side == "a" else "ins"
    return format_html(
        '<div class="said"><p dir="auto">{}</p></div>',
        format_html_join(
            "", "{}", ((_marked(mark, piece) if piece.differs else visible(piece.words),) for piece in pieces)
        ),
    )


def _marked(mark: str, piece: Piece) -> SafeString:
    return format_html("<{0}>{1}</{0}>", mark, visible(piece.words))
