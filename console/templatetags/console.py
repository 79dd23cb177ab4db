"""The parts of the console's pages: nobody types their markup by hand.

Each function says in its first line how it is called; docs/console-theme.md lists them all.
"""

from typing import Any

from django.forms import BoundField
from django.template import Context, Library
from django.utils.html import format_html

from console.hostile import visible_plain
from console.markup import amounts, frames, icons, idents, lists, standing, texts, times
from console.navigation import Menu, menus
from console.states import effect_state

register = Library()

for inline in (
    icons.icon,
    idents.ident,
    amounts.money,
    amounts.cost,
    times.moment,
    times.age,
    standing.state,
    standing.branch,
    standing.stub,
    texts.said,
    texts.raw,
    texts.withheld,
    frames.tool,
    frames.csv_link,
    frames.siblings,
):
    register.simple_tag(inline)

for framed in (frames.notice, frames.facts, frames.fact, frames.details, frames.scroll):
    register.simple_block_tag(framed)

register.inclusion_tag("console/parts/pages.html")(lists.pages)
register.inclusion_tag("console/parts/filter_column.html")(lists.filter_column)
register.inclusion_tag("console/parts/empty.html")(lists.empty)
register.inclusion_tag("console/parts/failed_part.html")(lists.failed_part)
register.inclusion_tag("console/parts/gate.html")(lists.gate)

register.filter("effect_state", effect_state)
register.filter("bytesize", amounts.bytesize)
register.filter("duration", times.duration)
register.filter("hostile", texts.hostile)
register.filter("plainly", visible_plain)
register.filter("peek", texts.peek)


@register.simple_tag(takes_context=True)
def navigation(context: Context) -> list[Menu]:
    """{% navigation as menus %}: the menu as the person who asks sees it."""
    request: Any = context["request"]
    return menus(user=request.user, path=request.path, available_apps=context.get("available_apps") or ())


@register.filter
def labelled(field: BoundField, label: str) -> str:
    """{{ field|labelled:"Amount" }}: a form's field that has no label beside it says its name itself."""
    widget = field.as_widget(attrs={"aria-label": label})
    if field.field.show_hidden_initial:
        return format_html("{}{}", widget, field.as_hidden(only_initial=True))
    return widget
