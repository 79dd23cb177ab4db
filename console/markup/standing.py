"""States, branches and stubs: what became of a thing, on which branch it stands, and both beside money."""

from typing import Final

from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.markup.amounts import money
from console.markup.icons import sprite
from console.markup.idents import ident
from console.states import look_of

# Line style is the branch: solid, dashed, dotted. A detached effect stands on none.
_BRANCHES: Final = {"live": "Live", "abandoned": "Abandoned", "later": "Later"}

_LINE: Final = (
    '<svg class="branch-line is-{}" viewBox="0 0 18 8" aria-hidden="true"><path d="M0 4h18"/></svg>'
)
_NO_REFERENCE: Final = '<span class="muted">{}</span>'


def state(code: str, word: str = "", of: str = "") -> SafeString:
    """{% state code [word] [of="job"|"compensation"] %}: shape, word and colour of a state.

    `word` replaces its usual word; `of` tells states apart that share a code.
    """
    look = look_of(code, of)
    return format_html(
        '<span class="state is-{}">{}{}</span>', look.shape, sprite(look.icon), word or look.word
    )


def branch(standing: str, word: str = "") -> SafeString:
    """{% branch "live"|"abandoned"|"later"|"detached" [word] %}"""
    if standing == "detached":
        return format_html('<span class="branch"><span class="muted">{}</span></span>', word or "Detached")
    if standing not in _BRANCHES:
        raise ValueError(f"{standing!r} is no standing: {', '.join(_BRANCHES)} or detached")
    line = format_html(_LINE, standing)
    return format_html('<span class="branch is-{}">{}{}</span>', standing, line, word or _BRANCHES[standing])


def stub(
    href: str,
    state: str,
    minor: int | None,
    currency: str = "",
    ref: str | None = None,
    standing: str = "",
    word: str = "",
) -> SafeString:
    """{% stub href state minor currency [ref=external_ref] [standing="live"] [word="…"] %}

    An effect beside the call that caused it: one link to the whole chain.
    """
    look = look_of(state)
    reference = ident(ref, copy=False) if ref else format_html(_NO_REFERENCE, "no reference yet")
    line = format_html("<span>{}</span>", branch(standing)) if standing else ""
    return format_html(
        '<a class="stub is-{}" href="{}"><span class="stub-state">{}{}</span>'
        '<span class="stub-body">{}{}{}</span></a>',
        look.shape,
        href,
        sprite(look.icon),
        word or look.word,
        money(minor, currency),
        reference,
        line,
    )
