"""Turns of a thread, and the attempts below an answer.

Written here rather than in templates, because a page has fifty turns of a dozen parts each: rendered
as included templates they took most of the time of the page.
"""

from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from console.hostile import visible_plain
from console.markup.amounts import cost
from console.markup.blocks import Sight, column, said_block
from console.markup.frames import scroll, siblings
from console.markup.standing import state
from console.markup.texts import hostile
from console.markup.times import duration, moment
from console.quantities import NOTHING
from console.thread.attempts import AttemptLine, TurnAttempts
from console.thread.siblings import Versions
from console.thread.turns import Turn
from conversations.reads.attempts import ShownAttempt


def turn(shown: Turn, sight: Sight) -> SafeString:
    """One message of a thread."""
    classes = "".join(
        name
        for name, is_on in (
            (" is-fork", shown.is_fork and not shown.is_quiet),
            (" is-last", shown.is_last),
            (" is-abandoned", shown.is_abandoned),
        )
        if is_on
    )
    link = format_html(
        '<a href="{0}?m={1}#m{1}" aria-label="Link to message {1}">#{1}</a>', sight.base, shown.seq
    )
    if shown.is_quiet:
        return format_html(
            '<div class="turn is-fold{}" id="m{}"><div class="turn-who">{}</div>'
            '<div class="turn-body">{}</div></div>',
            *(classes, shown.seq, link, _results_elsewhere(shown.results_of_calls)),
        )
    return format_html(
        '<article class="turn is-{}{}" id="m{}" aria-label="{}, message {}">'
        '<div class="turn-who"><b>{}</b>{}{}</div><div class="turn-body">{}</div></article>',
        *(shown.side, classes, shown.seq, visible_plain(shown.role_label), shown.seq),
        *(hostile(shown.role_label), link, _said_at(shown)),
        _body(shown, sight),
    )


def versions_line(versions: Versions, base: str) -> SafeString:
    """‹2/3›, each side a link that leaves the head alone, and who made this version and why."""
    made: SafeString | str = ""
    if versions.made:
        at = moment(versions.made_at, show="clock", seconds=True)
        made = format_html("<span>{} at {}</span>", versions.made, at)
    return format_html(
        '<div class="siblings-line">{}{}</div>',
        siblings(
            versions.at,
            versions.count,
            previous=_beside(base, versions.previous),
            following=_beside(base, versions.following),
        ),
        made,
    )


def groups(shown: Turn, sight: Sight) -> SafeString:
    """All blocks of a message in their order."""
    return format_html_join(
        "",
        "{}",
        (
            (said_block(group.blocks[0], sight) if group.is_said else column(group.blocks, sight),)
            for group in shown.groups
        ),
    )


def columns(shown: Turn, sight: Sight) -> SafeString:
    """The blocks of a message that are not plain words."""
    found = (column(group.blocks, sight) for group in shown.groups if not group.is_said)
    return format_html_join("", "{}", ((blocks,) for blocks in found))


def attempts(found: TurnAttempts, base: str) -> SafeString:
    """One line for an attempt that went well; a table where there is more to see."""
    if not found.is_worth_a_table:
        return _one_attempt(found.last.attempt, base)
    return format_html(
        '<details class="attempts fold"{}><summary>{}</summary>{}</details>',
        " open" if found.failed else "",
        found.summary,
        attempts_table(found.lines, base),
    )


def attempts_table(lines: Sequence[AttemptLine], base: str) -> SafeString:
    return scroll(
        format_html(
            '<table><thead><tr><th scope="col">Try</th><th scope="col">Requested, served</th>'
            '<th scope="col">Outcome</th><th scope="col" class="num">In</th>'
            '<th scope="col" class="num">Out</th>'
            '<th scope="col" class="num">USD</th><th scope="col" class="num">Took</th></tr></thead>'
            "<tbody>{}</tbody></table>",
            format_html_join("", "{}", ((_attempt_row(line, base),) for line in lines)),
        ),
        "Attempts",
    )


def tokens(count: int | None) -> str:
    """{{ count|thousands }}: "3,118"; nothing is an en dash."""
    return NOTHING if count is None else f"{count:,}"


def _said_at(shown: Turn) -> SafeString:
    if shown.at is None:
        return format_html('<span class="muted">{}</span>', "time unknown")
    return moment(shown.at, show="clock", seconds=True)


def _body(shown: Turn, sight: Sight) -> SafeString:
    pieces: list[SafeString] = []
    if shown.versions:
        pieces.append(versions_line(shown.versions, sight.base))
    if shown.is_hidden:
        pieces.append(format_html('<p class="turn-meta">{}</p>', "Hidden from the customer by the source"))
    pieces.append(groups(shown, sight))
    if shown.results_of_calls:
        words = _results_elsewhere(shown.results_of_calls)
        pieces.append(format_html('<p class="turn-meta">{}</p>', words))
    elif not shown.blocks:
        pieces.append(format_html('<p class="muted">{}</p>', "Empty message"))
    if shown.attempts:
        pieces.append(attempts(shown.attempts, sight.base))
    return format_html_join("", "{}", ((piece,) for piece in pieces))


def _results_elsewhere(count: int) -> str:
    if count == 1:
        return "Result of 1 call, shown with the call"
    return f"Results of {count} calls, shown with the calls"


def _beside(base: str, seq: int | None) -> str:
    return f"{base}?m={seq}#m{seq}" if seq else ""


def _one_attempt(attempt: ShownAttempt, base: str) -> SafeString:
    return format_html(
        '<div class="turn-meta"><span>{}</span><span>1 attempt</span><span>{} in</span><span>{} out</span>'
        '<span>{}{}</span>{}{}<a href="{}attempts/{}/">Attempt {}</a></div>',
        hostile(attempt.served_model or attempt.requested_model),
        tokens(attempt.input_tokens),
        tokens(attempt.output_tokens),
        cost(attempt.cost_usd, currency="USD"),
        " at least" if attempt.cost_confidence == "estimated" else "",
        "" if attempt.total_ms is None else format_html("<span>{}</span>", duration(attempt.total_ms)),
        "" if attempt.status == "complete" else state(attempt.status),
        *(base, attempt.number, attempt.number),
    )


def _cost_with_doubt(attempt: ShownAttempt) -> SafeString:
    """The cost, and whether it is a lower bound: of an answer that broke off more may be billed."""
    if attempt.cost_confidence != "estimated":
        return cost(attempt.cost_usd)
    return format_html("{}<small>{}</small>", cost(attempt.cost_usd), "at least")


def _attempt_row(line: AttemptLine, base: str) -> SafeString:
    attempt = line.attempt
    served: SafeString | str = ""
    if attempt.is_fallback:
        served = format_html(
            ' <span class="nowrap"><span class="muted">→</span> {}</span>', hostile(attempt.served_model)
        )
    return format_html(
        '<tr><td><a href="{0}attempts/{1}/" aria-label="Attempt {1}">{2}</a></td><td>{3}{4}</td>'
        '<td>{5}{6}</td><td class="num">{7}</td><td class="num">{8}</td><td class="num">{9}</td>'
        '<td class="num">{10}</td></tr>',
        *(base, attempt.number, attempt.attempt, hostile(attempt.requested_model), served),
        state(attempt.status, visible_plain(line.outcome)),
        format_html_join("", "<small>{}</small>", ((hostile(note),) for note in line.notes)),
        *(tokens(attempt.input_tokens), tokens(attempt.output_tokens)),
        *(_cost_with_doubt(attempt), duration(attempt.total_ms)),
    )
