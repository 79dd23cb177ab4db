import pytest
from django import forms
from django.http import QueryDict

from console.filtering import filter_group
from tests.console.rendering import render


def sign(name: str) -> str:
    return f'<svg class="icon" aria-hidden="true"><use href="#{name}"/></svg>'


def test_pages_by_key_lead_to_newer_and_older_and_count_nothing():
    assert render(
        "{% pages newer=newer older=older csv='/x.csv' rows=2 %}", newer="?before=1", older="?after=2&q=x"
    ).strip() == (
        '<div class="list-foot"><nav aria-label="Pages"><span class="button-row">'
        f'<a class="button is-small" href="?before=1" rel="prev">{sign("i-left")}Newer</a>'
        f'<a class="button is-small" href="?after=2&amp;q=x" rel="next">Older{sign("i-right")}</a>'
        "</span></nav>"
        f'<a class="download" href="/x.csv">{sign("i-download")}CSV, 2 rows</a></div>'
    )


def test_the_only_page_of_a_list_has_no_links():
    assert render("{% pages %}").strip() == (
        '<div class="list-foot"><nav aria-label="Pages"><span class="button-row">'
        f'<span class="button is-small" aria-disabled="true">{sign("i-left")}Newer</span>'
        f'<span class="button is-small" aria-disabled="true">Older{sign("i-right")}</span></span></nav></div>'
    )


def test_the_filter_column_marks_what_is_chosen_and_can_lift_it():
    states = filter_group(
        query=QueryDict("state=failed"), name="state", title="state", options=[("failed", "Failed <b>")]
    )

    html = render("{% filter_column groups clear='?' %}", groups=[states])

    assert "".join(line.strip() for line in html.splitlines()) == (
        '<search id="changelist-filter" aria-labelledby="changelist-filter-header">'
        '<h2 id="changelist-filter-header">Filter</h2>'
        '<p id="changelist-filter-extra-actions"><a href="?">Lift all filters</a></p>'
        '<details data-filter-title="state" open><summary>By state</summary><ul>'
        '<li><a href="?"><bdi>All</bdi></a></li>'
        '<li class="selected"><a href="?state=failed" aria-current="true">'
        "<bdi>Failed &lt;b&gt;</bdi></a></li>"
        "</ul></details></search>"
    )


def test_no_filter_no_way_to_lift_it():
    states = filter_group(query=QueryDict(""), name="state", title="state", options=[("failed", "Failed")])

    assert "Lift all filters" not in render("{% filter_column groups clear='?' %}", groups=[states])


def test_an_empty_list_says_what_was_looked_at_and_how_to_widen():
    html = render(
        "{% empty 'no-match' title text='Looked at 27.' actions=actions %}",
        title="None in <KWD>",
        actions=[("All", "?a&b")],
    )

    assert "".join(line.strip() for line in html.splitlines()) == (
        '<div class="empty" data-kind="no-match"><h2>None in &lt;KWD&gt;</h2><p>Looked at 27.</p>'
        '<p class="button-row"><a class="button" href="?a&amp;b">All</a></p></div>'
    )


def test_all_done_needs_no_more_words():
    html = render("{% empty 'all-done' 'No refund waits for you' %}")

    assert "".join(line.strip() for line in html.splitlines()) == (
        '<div class="empty" data-kind="all-done"><h2>No refund waits for you</h2></div>'
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{% empty 'nothing-yet' 'No statements' %}", "needs a text"),
        ("{% empty 'no-match' 'None' %}", "needs a text"),
        ("{% empty 'oops' 'None' %}", "no kind of emptiness"),
    ],
)
def test_an_empty_list_without_a_way_on_is_a_mistake_of_ours(source, message):
    with pytest.raises(ValueError, match=message):
        render(source)


def test_a_part_that_failed_leaves_a_reference_and_a_second_try():
    assert render("{% failed_part reference='5d1f' retry=url %}", url="/part/?a&b").strip() == (
        f'<div role="alert"><div class="note is-error">{sign("i-error")}<div>'
        "<b>This part could not be loaded.</b> "
        'The rest of the page is complete. <a href="/part/?a&amp;b">Try again</a> '
        '<span class="muted">Reference 5d1f</span></div></div></div>'
    )


class Reason(forms.Form):
    ticket = forms.CharField(label="Ticket number", help_text="From the support desk.")


def test_the_gate_ties_labels_help_and_errors_to_their_fields():
    html = render("{% gate form action='/open/' hours=4 back='/' %}", form=Reason({"ticket": ""}))

    assert '<form method="post" action="/open/">' in html
    assert '<label for="id_ticket">Ticket number</label><div class="errors">' in html
    assert '<ul class="errorlist" id="id_ticket_error">' in html
    assert 'aria-describedby="id_ticket_helptext id_ticket_error"' in html
    assert '<p class="help" id="id_ticket_helptext">From the support desk.</p>' in html
    assert '<button class="button default" type="submit">Open for 4 hours</button>' in html
    assert '<a class="button" href="/">Go back</a>' in html
