import pytest

from tests.console.rendering import render

COPY = '<svg class="icon" aria-hidden="true"><use href="#i-copy"/></svg></button>'
CHARGE = "ch_3SXq4kWm7TnLdR2v0bYhZp6E"
CHARGE_BODY = (
    '<bdi class="ident-text"><span class="ident-head">ch_3SXq4kWm7TnLdR2v0b</span>'
    '<span class="ident-tail">YhZp6E</span></bdi>'
)
CHARGE_COPY = f'<button type="button" class="copy" aria-label="Copy {CHARGE}">{COPY}'


def test_an_identifier_keeps_its_last_six_characters_and_can_be_copied():
    assert render("{% ident value %}", value=CHARGE) == (
        f'<span class="ident" title="{CHARGE}">{CHARGE_BODY}{CHARGE_COPY}</span>'
    )


def test_an_identifier_as_a_link_keeps_its_button_outside_the_link():
    assert render("{% ident value href=url %}", value=CHARGE, url="/effects/1?a=1&b=2") == (
        f'<span class="ident" title="{CHARGE}">'
        f'<a href="/effects/1?a=1&amp;b=2">{CHARGE_BODY}</a>{CHARGE_COPY}</span>'
    )


def test_an_identifier_in_full_without_a_button():
    assert render("{% ident value full=True copy=False %}", value=CHARGE) == (
        f'<span class="ident is-full" title="{CHARGE}">{CHARGE_BODY}</span>'
    )


@pytest.mark.parametrize("value", ["call_0", "x"])
def test_a_short_identifier_is_all_tail(value):
    assert render("{% ident value copy=False %}", value=value) == (
        f'<span class="ident" title="{value}"><bdi class="ident-text">'
        f'<span class="ident-tail">{value}</span></bdi></span>'
    )


@pytest.mark.parametrize("value", [None, ""])
def test_no_identifier_is_an_en_dash(value):
    assert render("{% ident value %}", value=value) == '<span class="muted">–</span>'


def test_a_hostile_identifier_shows_what_it_hides_and_is_copied_as_it_is():
    assert render("{% ident value %}", value='ab\u202e"><b>123456') == (
        '<span class="ident" title="ab[U+202E]&quot;&gt;&lt;b&gt;123456">'
        '<bdi class="ident-text"><span class="ident-head">ab'
        '<span class="hidden-mark" title="U+202E, right-to-left override">U+202E</span>'
        '&quot;&gt;&lt;b&gt;</span><span class="ident-tail">123456</span></bdi>'
        '<button type="button" class="copy" aria-label="Copy ab[U+202E]&quot;&gt;&lt;b&gt;123456"'
        f' data-copy="ab\u202e&quot;&gt;&lt;b&gt;123456">{COPY}</span>'
    )


def test_a_surrogate_in_an_identifier_can_be_sent_to_the_browser():
    render("{% ident value %}", value="call_\ud83d_12345").encode("utf-8")


def test_an_identifier_of_200_kilobytes_is_cut_and_not_offered_for_copying():
    assert render("{% ident value %}", value="x" * 200_000) == (
        f'<span class="ident" title="{"x" * 200}… (200,000 characters)"><bdi class="ident-text">'
        f'<span class="ident-head">{"x" * 200}…</span><span class="ident-tail">xxxxxx</span></bdi></span>'
    )


def test_a_short_id_stands_whole_because_no_middle_can_give_way():
    assert '<bdi class="ident-text"><span class="ident-tail">cus-1001</span></bdi>' in render(
        "{% ident value %}", value="cus-1001"
    )
    assert '<span class="ident-tail">1-abcd</span>' in render("{% ident value %}", value="cus-1001-abcd")
