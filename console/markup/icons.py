"""Signs from the sprite at the end of every page: `s-…` are states, `i-…` are things."""

from django.utils.html import format_html
from django.utils.safestring import SafeString


def sprite(name: str) -> SafeString:
    """Return one sign; `name` is the id of its symbol in `console/parts/sprite.html`."""
    return format_html('<svg class="icon" aria-hidden="true"><use href="#{}"/></svg>', name)


def icon(name: str) -> SafeString:
    """{% icon "download" %}: the sign of a thing, beside a word that names it."""
    return sprite(f"i-{name}")
