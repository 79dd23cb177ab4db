"""Parts that only the pages of a conversation have."""

from uuid import UUID

from django.template import Library
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from console.hostile import visible
from console.markup import turns
from console.markup.blocks import Sight
from console.quantities import MINUS
from console.thread.attempts import TurnAttempts
from console.thread.differing import Piece
from console.thread.links import message_url
from console.thread.turns import Turn

register = Library()

register.filter("thousands", turns.tokens)


@register.simple_tag
def turn(shown: Turn, sight: Sight) -> SafeString:
    """{% turn message sight %}: one message of a thread with its versions, blocks and attempts."""
    return turns.turn(shown, sight)


@register.simple_tag
def blocks(shown: Turn, sight: Sight) -> SafeString:
    """{% blocks message sight %}: what a message holds, without its frame."""
    return turns.groups(shown, sight)


@register.simple_tag
def columns(shown: Turn, sight: Sight) -> SafeString:
    """{% columns message sight %}: what a message holds besides words."""
    return turns.columns(shown, sight)


@register.simple_tag
def attempts_table(found: TurnAttempts, base: str) -> SafeString:
    """{% attempts_table attempts base %}: each try with what it asked, what served, and what it took."""
    return turns.attempts_table(found.lines, base)


@register.simple_tag
def message_link(conversation_id: UUID, seq: int) -> str:
    """{% message_link conversation.pk seq %}: the address of a message, wherever in the tree it is."""
    return message_url(conversation_id, seq)


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
