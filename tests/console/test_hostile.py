"""Hostile text, looked at by staff all day: nothing runs, nothing hides, nothing is lost."""

import pytest
from django.utils.safestring import SafeString

from console.hostile import pieces_of, text_of, visible, visible_plain


def box(label: str, name: str) -> str:
    return f'<span class="hidden-mark" title="{name}">{label}</span>'


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain words", "plain words"),
        ("", ""),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ('"><img src=x onerror=alert(1)>', "&quot;&gt;&lt;img src=x onerror=alert(1)&gt;"),
        ("a & b 'c' {{ d }} {% e %} {0} {}", "a &amp; b &#x27;c&#x27; {{ d }} {% e %} {0} {}"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("dos\r\nlines", "dos\nlines"),
        ("\u202e1447-RETNIW", box("U+202E", "U+202E, right-to-left override") + "1447-RETNIW"),
        (
            "a\u2066b\u2069",
            (
                f"a{box('U+2066', 'U+2066, left-to-right isolate')}"
                f"b{box('U+2069', 'U+2069, pop directional isolate')}"
            ),
        ),
        ("before\x00after", f"before{box('NUL', 'U+0000, control character')}after"),
        ("\x1b[31mred", box("ESC", "U+001B, control character") + "[31mred"),
        ("over\rwritten", f"over{box('CR', 'U+000D, control character')}written"),
        ("a\x7fb", f"a{box('U+007F', 'U+007F, control character')}b"),
        ("pay\u200bpal", f"pay{box('U+200B', 'U+200B, zero width space')}pal"),
        ("pay\u200dpal", f"pay{box('U+200D', 'U+200D, zero width joiner')}pal"),
        ("\ufeffbom", box("U+FEFF", "U+FEFF, zero width no-break space") + "bom"),
        ("soft\u00adhyphen", f"soft{box('U+00AD', 'U+00AD, soft hyphen')}hyphen"),
        ("line\u2028separator", f"line{box('U+2028', 'U+2028, line separator')}separator"),
        ("half \ud83d end", f"half {box('U+D83D', 'U+D83D, half of a surrogate pair')} end"),
        ("x\u3164y", f"x{box('U+3164', 'U+3164, hangul filler')}y"),
        ("x\u2800y", f"x{box('U+2800', 'U+2800, braille pattern blank')}y"),
        ("hi\U000e0041", "hi" + box("U+E0041", "U+E0041, tag latin capital letter a")),
        ("\uffff", box("U+FFFF", "U+FFFF")),
        ("a" + "\u200b" * 1204, "a" + box("U+200B × 1,204", "U+200B, zero width space")),
        ("literal \\u0000 in docs", "literal \\u0000 in docs"),
    ],
)
def test_hostile_text_is_escaped_and_what_has_no_ink_stands_in_a_box(text, html):
    shown = visible(text)

    assert shown == html
    assert isinstance(shown, SafeString)


@pytest.mark.parametrize(
    "text",
    [
        "Inês Okafor, Sigrún Þ., 東京都",
        "مرحبا بالعالم",
        "می\u200cخواهم",
        "क्\u200dष",
        "👩\u200d👩\u200d👧",
        "👍🏽 ❤\ufe0f 1\ufe0f\u20e3",
        "葛\U000e0100飾区",
        "\xa0non-breaking",
    ],
)
def test_honest_text_of_every_script_is_left_alone(text):
    assert visible(text) == text


def test_a_variation_selector_that_varies_nothing_is_shown():
    smuggled = "".join(chr(0xE0100 + byte) for byte in b"hi")

    assert visible(f"ok{smuggled}") == "ok" + box("U+E0168", "U+E0168, variation selector-121") + box(
        "U+E0169", "U+E0169, variation selector-122"
    )


def test_markup_that_is_marked_safe_elsewhere_is_escaped_here_all_the_same():
    assert visible(SafeString("<b>bold</b>")) == "&lt;b&gt;bold&lt;/b&gt;"


def test_bytes_that_are_no_utf8_are_named_one_by_one():
    assert visible(text_of(b"caf\xe9 \xc3\xa9")) == f"caf{box('0xE9', 'byte E9, not UTF-8')} é"


def test_in_attributes_and_titles_the_names_stand_in_brackets():
    assert visible_plain("a\u202eb\x00<i>") == "a[U+202E]b[NUL]<i>"


def test_what_is_shown_can_always_be_sent_as_utf8():
    every_character = "".join(map(chr, range(0x20000))) + "\U000e0001\U000e01ef\U0010ffff"

    visible(every_character).encode("utf-8")


def test_past_500_boxes_in_one_text_the_names_stand_in_brackets():
    zero_width = box("U+200B", "U+200B, zero width space")

    assert visible("a\u200b" * 502) == f"a{zero_width}" * 500 + "a[U+200B]a[U+200B]"
    assert visible("\u200b<b>" * 501) == f"{zero_width}&lt;b&gt;" * 500 + "[U+200B]&lt;b&gt;"


def test_two_hundred_kilobytes_without_ink_make_one_box():
    assert len(list(pieces_of("\u202e" * 200_000))) == 1
