"""The blocks of a message: words, folded lines of calls and their like, attachments, what is withheld."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from console.markup.frames import details, notice
from console.markup.icons import icon
from console.markup.idents import ident
from console.markup.standing import state, stub
from console.markup.texts import hostile, raw, said, withheld
from console.markup.times import duration
from console.quantities import size_text
from console.thread.blocks import Block, Result, Shown

_MOST_OF_AN_ADDRESS: Final = 200
_META: Final = '<p class="turn-meta">{}</p>'
_MUTED: Final = '<p class="muted">{}</p>'


@dataclass(frozen=True, slots=True)
class Sight:
    """What whoever looks is shown of a conversation; `base` is the address that its links begin with.

    `found` is the id that led here: its call is marked, and open.
    """

    base: str
    is_open: bool
    sees_raw: bool
    shows_effects: bool
    found: str = ""


def said_block(block: Block, sight: Sight) -> SafeString:
    """What somebody said, or in its place how much is withheld or lost."""
    shown = block.shown
    if shown.is_withheld and shown.characters:
        return format_html("<div>{}</div>", withheld("Text", shown.characters))
    if shown.lost:
        return format_html(_MUTED, f"{shown.lost}.")
    return format_html("{}{}", said(shown.text), _remarks(block, sight))


def column(blocks: Iterable[Block], sight: Sight) -> SafeString:
    """Neighbouring blocks that are not plain words, one line each, with their effects below."""
    lines = ((_line(block, sight), _stubs(block, sight)) for block in blocks)
    return format_html('<div class="blocks">{}</div>', format_html_join("", "{}{}", lines))


def _remarks(block: Block, sight: Sight) -> SafeString:
    remarks: list[SafeString | str] = []
    if block.shown.is_cut:
        words = f"The whole text, {block.shown.characters:,} characters"
        remarks.append(format_html('<a href="{}">{}</a>', _part_url(block.seq, block.ordinal, sight), words))
    if block.is_marked_copy:
        remarks.append("A marked copy: the text holds characters that a database column cannot")
    if block.is_redacted:
        remarks.append("Parts of this text were cut out before it was stored")
    return format_html_join("", _META, ((remark,) for remark in remarks))


def _line(block: Block, sight: Sight) -> SafeString:
    if block.kind == "attachment":
        return _attachment(block, sight)
    is_found = bool(sight.found) and block.call_id == sight.found
    line = _withheld_line(block) if block.shown.is_withheld else _folded(block, sight, is_open=is_found)
    return format_html('<div class="is-found">{}</div>', line) if is_found else line


def _folded(block: Block, sight: Sight, *, is_open: bool) -> SafeString:
    content = format_html(
        "{}{}{}{}",
        format_html(_MUTED, f"{block.note}.") if block.note else "",
        _arguments_label(block),
        _shown(block.shown, block.seq, block.ordinal, sight),
        format_html_join("", "{}", ((_result(block, result, sight),) for result in block.results)),
    )
    return details(content, block.name, peek=block.peek, took=block.took, state=block.state, is_open=is_open)


def _withheld_line(block: Block) -> SafeString:
    what = "arguments and result withheld" if block.kind == "call" else "withheld"
    end = ""
    if block.state:
        took = "" if block.took is None else duration(block.took)
        end = format_html('<span class="block-end">{}{}</span>', took, state(block.state))
    return format_html(
        '<div class="block is-closed"><div class="block-line"><span class="block-name">{}</span>'
        '<span class="block-peek">{}, {}</span>{}</div></div>',
        hostile(block.name),
        what,
        size_text(block.shown.size),
        end,
    )


def _arguments_label(block: Block) -> SafeString | str:
    if not block.call_id:
        return ""
    return format_html(
        '<div class="block-label"><span>{}</span>{}{}</div>',
        "Arguments" if block.kind == "call" else "As received",
        ident(block.call_id),
        format_html("<span>{}</span>", "id made here: it came without one") if block.is_minted_id else "",
    )


def _result(block: Block, result: Result, sight: Sight) -> SafeString:
    return format_html(
        '<div class="block-label"><span>Result, in <a href="{}?m={}#m{}">#{}</a></span>{}</div>{}',
        *(sight.base, result.seq, result.seq, result.seq),
        format_html("<span>{}</span>", hostile(block.error_code)) if block.error_code else "",
        _shown(result.shown, result.seq, result.ordinal, sight, is_error=result.is_error),
    )


def _shown(shown: Shown, seq: int, ordinal: int, sight: Sight, *, is_error: bool = False) -> SafeString:
    if shown.lost:
        return format_html(_MUTED, f"{shown.lost}.")
    return format_html(
        "{}{}{}", _repeated(shown), raw(shown.text, error=is_error), _more(shown, seq, ordinal, sight)
    )


def _repeated(shown: Shown) -> SafeString | str:
    if not shown.repeated:
        return ""
    warning = format_html(
        "<p>A reading of the bytes: {} occurs more than once. Programs keep only the last; the raw payload"
        " has them all.</p>",
        hostile(", ".join(shown.repeated)),
    )
    return notice(warning, "warn")


def _more(shown: Shown, seq: int, ordinal: int, sight: Sight) -> SafeString | str:
    """The way to all bytes, for those allowed; for the others at least the word that this is cut."""
    cut = ""
    if shown.is_cut:
        cut = f"Cut here after {len(shown.text):,} of {shown.characters:,} characters"
    if not sight.sees_raw:
        return format_html(_META, cut) if cut else ""
    return format_html(
        '<p class="turn-meta"><a href="{}">Raw</a>{}</p>',
        _part_url(seq, ordinal, sight),
        format_html("<span>{}</span>", cut) if cut else "",
    )


def _attachment(block: Block, sight: Sight) -> SafeString:
    found = block.attachment
    if found is None:
        return format_html(_MUTED, "An attachment that cannot be described")
    where: SafeString | str = ""
    if found.address:
        where = format_html("; it lies at {}", hostile(found.address[:_MOST_OF_AN_ADDRESS]))
    elif found.pointer:
        where = format_html("; asset missing: {}", hostile(found.pointer[:_MOST_OF_AN_ADDRESS]))
    elif found.provider_file:
        where = format_html("; kept by the provider as {}", hostile(found.provider_file))
    link: SafeString | str = ""
    if block.shown.lost:
        link = format_html('<span class="muted">{}</span>', block.shown.lost)
    elif sight.is_open and found.can_be_downloaded:
        link = format_html('<a href="{}file">Download</a>', _part_url(block.seq, block.ordinal, sight))
    return format_html(
        '<span class="attach">{}<span>{}</span><span class="muted">{}, {}, not shown{}</span>{}</span>',
        icon("attach"),
        hostile(found.name or block.name),
        hostile(found.media_type or "type unknown"),
        size_text(found.size),
        where,
        link,
    )


def _stubs(block: Block, sight: Sight) -> SafeString | str:
    if not sight.shows_effects:
        return ""
    return format_html_join(
        "",
        "{}",
        (
            (
                stub(
                    effect.url,
                    effect.state,
                    effect.minor,
                    effect.currency,
                    ref=effect.ref,
                    standing=effect.standing,
                    word=effect.word,
                ),
            )
            for effect in block.effects
        ),
    )


def _part_url(seq: int, ordinal: int, sight: Sight) -> str:
    return f"{sight.base}messages/{seq}/blocks/{ordinal}/"
