from django.utils.html import escape

from tests.console.rendering import render


def test_what_was_said_stands_in_paragraphs_of_their_own_direction():
    assert render("{% said text %}", text="one\ntwo\r\n\r\n\nthree <b>\n") == (
        '<div class="said"><p dir="auto">one\ntwo</p><p dir="auto">three &lt;b&gt;</p></div>'
    )


def test_markup_and_hidden_characters_in_a_message_are_shown_as_what_they_are():
    assert render("{% said text %}", text="voucher \u202e1447-RETNIW <script>x</script>\x1b[31m") == (
        '<div class="said"><p dir="auto">voucher '
        '<span class="hidden-mark" title="U+202E, right-to-left override">U+202E</span>1447-RETNIW '
        "&lt;script&gt;x&lt;/script&gt;"
        '<span class="hidden-mark" title="U+001B, control character">ESC</span>[31m</p></div>'
    )


def test_an_empty_message_is_seen_to_be_empty():
    assert render("{% said '' %}") == '<div class="said"><p class="muted">Empty text</p></div>'
    assert render("{% said text %}", text=" \n\t ") == (
        '<div class="said"><p class="muted">Blank text, 4 characters</p></div>'
    )


def test_200_kilobytes_without_a_space_are_folded():
    assert render("{% said text %}", text="x" * 200_000) == (
        f'<div class="said"><p dir="auto">{"x" * 4_000}</p>'
        '<details class="fold"><summary>The other 196,000 characters</summary>'
        f'<p dir="auto">{"x" * 196_000}</p></details></div>'
    )


def test_the_rest_of_a_long_message_may_stand_elsewhere():
    assert render("{% said text more_url=url %}", text="x" * 4_001, url="/m/1/text?a=1&b=2") == (
        f'<div class="said"><p dir="auto">{"x" * 4_000}</p>'
        '<p><a href="/m/1/text?a=1&amp;b=2">Show the other 1 characters</a></p></div>'
    )


def test_a_payload_is_shown_as_received():
    assert render("{% raw payload %}", payload=b'{"note": "=HYPERLINK(\\"x\\")", "b": 1}') == (
        '<pre class="raw" tabindex="0">'
        "{&quot;note&quot;: &quot;=HYPERLINK(\\&quot;x\\&quot;)&quot;, &quot;b&quot;: 1}</pre>"
    )


def test_a_payload_that_failed_is_coloured_and_its_first_newline_is_kept():
    assert render("{% raw payload error=True %}", payload="\n{}") == (
        '<pre class="raw is-error-text" tabindex="0">\n\n{}</pre>'
    )


def test_bytes_that_are_no_text_are_named():
    assert render("{% raw payload %}", payload=memoryview(b"\x00\xff")) == (
        '<pre class="raw" tabindex="0"><span class="hidden-mark" title="U+0000, control character">NUL</span>'
        '<span class="hidden-mark" title="byte FF, not UTF-8">0xFF</span></pre>'
    )


def test_a_long_payload_is_folded():
    html = render("{% raw payload %}", payload='"' * 5_000)

    assert html == (
        f'<pre class="raw" tabindex="0">{escape(chr(34)) * 4_000}</pre><details class="fold">'
        "<summary>The other 1,000 characters</summary>"
        f'<pre class="raw" tabindex="0">{escape(chr(34)) * 1_000}</pre></details>'
    )


def test_a_withheld_text_says_how_much_is_withheld():
    assert (
        render("{% withheld 'Text' 203 %}") == '<span class="withheld">Text withheld, 203 characters</span>'
    )
    assert render("{% withheld 'Arguments' 12040 'bytes' %}") == (
        '<span class="withheld">Arguments withheld, 12,040 bytes</span>'
    )


def test_a_title_cannot_reorder_the_line_it_stands_in():
    assert render("{{ title|hostile }}", title="a\u202e<i>") == (
        '<bdi>a<span class="hidden-mark" title="U+202E, right-to-left override">U+202E</span>&lt;i&gt;</bdi>'
    )


def test_in_an_attribute_hidden_characters_are_named_in_brackets():
    assert (
        render('<option value="{{ title|plainly }}">', title='a\u202e"') == '<option value="a[U+202E]&quot;">'
    )
