import pytest

from tests.console.rendering import render


def sign(name: str) -> str:
    return f'<svg class="icon" aria-hidden="true"><use href="#{name}"/></svg>'


@pytest.mark.parametrize(
    ("kind", "tone", "name"),
    [
        ("info", "", "i-info"),
        ("ok", " is-ok", "s-applied"),
        ("warn", " is-warn", "i-warn"),
        ("error", " is-error", "i-error"),
        ("quiet", " is-quiet", "i-info"),
    ],
)
def test_a_notice_is_a_bar_a_sign_and_a_sentence(kind, tone, name):
    assert render(
        "{% notice kind %}Both charged, <b>{{ who }}</b>.{% endnotice %}", kind=kind, who="<i>"
    ) == (f'<div class="note{tone}">{sign(name)}<div>Both charged, <b>&lt;i&gt;</b>.</div></div>')


def test_a_notice_of_no_known_kind_is_a_mistake_of_ours():
    with pytest.raises(ValueError, match="'loud' is no kind of notice"):
        render("{% notice 'loud' %}x{% endnotice %}")


def test_facts_are_a_list_of_names_and_values():
    head = "{% fact 'Head' %}#{{ seq }}{% endfact %}"
    source = f"{{% facts layout %}}{head}{{% fact name %}}x{{% endfact %}}{{% endfacts %}}"

    assert render(source, layout="row", seq=33, name="<b>") == (
        '<dl class="facts"><div><dt>Head</dt><dd>#33</dd></div><div><dt>&lt;b&gt;</dt><dd>x</dd></div></dl>'
    )
    assert render("{% facts 'list' %}{% endfacts %}") == '<dl class="facts is-list"></dl>'


def test_a_call_is_a_folded_line():
    source = "{% details name peek=peek took=1310 state='succeeded' %}<p>{{ body }}</p>{% enddetails %}"

    assert render(source, name="book_\u202ehotel", peek='ref "WM"\n  to <b>', body="<script>") == (
        '<details class="block"><summary><span class="block-name">book_'
        '<span class="hidden-mark" title="U+202E, right-to-left override">U+202E</span>hotel</span>'
        '<span class="block-peek">ref &quot;WM&quot; to &lt;b&gt;</span>'
        f'<span class="block-end">1.31 s<span class="state is-done">{sign("s-applied")}Succeeded</span>'
        '</span></summary><div class="block-in"><p>&lt;script&gt;</p></div></details>'
    )


def test_an_open_call_without_state_is_a_bare_line():
    assert render("{% details 'thinking' is_open=True %}x{% enddetails %}") == (
        '<details class="block" open><summary><span class="block-name">thinking</span></summary>'
        '<div class="block-in">x</div></details>'
    )


def test_a_long_peek_is_cut():
    html = render("{% details 'other' peek=peek %}{% enddetails %}", peek="y" * 200_000)

    assert f'<span class="block-peek">{"y" * 240}…</span>' in html
    assert len(html) < 500


def test_a_wide_table_scrolls_in_a_box_that_takes_focus():
    assert render("{% scroll 'Findings' %}<table></table>{% endscroll %}") == (
        '<div class="scroll" tabindex="0" role="group" aria-label="Findings"><table></table></div>'
    )


def test_a_tool_of_the_page():
    assert render("{% tool 'Compare' url sign='compare' %}", url="/compare/?a=1&b=2") == (
        f'<li><a href="/compare/?a=1&amp;b=2">{sign("i-compare")}Compare</a></li>'
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", "CSV of this list"),
        ("rows=12405", "CSV, 12,405 rows"),
        ("rows=1", "CSV, 1 row"),
        ("rows=0", "CSV, 0 rows"),
    ],
)
def test_a_csv_link_says_how_many_rows_where_that_is_known(arguments, words):
    assert render(f"{{% csv_link '/x.csv' {arguments} %}}") == (
        f'<a class="download" href="/x.csv">{sign("i-download")}{words}</a>'
    )


def test_versions_at_a_fork_have_no_link_past_the_end():
    assert render("{% siblings 1 3 following='?v=2' %}") == (
        '<span class="siblings" role="group" aria-label="Versions of this message">'
        f'<span aria-disabled="true">{sign("i-left")}</span><span class="siblings-at">1/3</span>'
        f'<a href="?v=2" rel="next" aria-label="Version 2 of 3">{sign("i-right")}</a></span>'
    )
    assert render("{% siblings 3 3 previous='?v=2' %}") == (
        '<span class="siblings" role="group" aria-label="Versions of this message">'
        f'<a href="?v=2" rel="prev" aria-label="Version 2 of 3">{sign("i-left")}</a>'
        f'<span class="siblings-at">3/3</span><span aria-disabled="true">{sign("i-right")}</span></span>'
    )
