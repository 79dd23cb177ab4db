from json.encoder import encode_basestring, encode_basestring_ascii

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conversations.wire.literals import find_habit, spell, spell_bytes
from conversations.wire.shapes import COMPACT, SPACED

any_text = st.text(st.characters(exclude_categories=[]))


@given(any_text)
@example('\x7f \x1f \b\f\n\r\t\\ " / \u2028 é 🍸')
@example("\ud83d")
def test_a_string_is_spelled_as_the_standard_library_spells_it(text):
    assert spell(text, COMPACT) == encode_basestring(text)
    assert spell(text, SPACED) == encode_basestring_ascii(text)


@given(st.text())
@example('\x7f \x1f \b\f\n\r\t\\ " / \u2028 é 🍸')
@pytest.mark.parametrize("style", [COMPACT, SPACED])
def test_a_string_is_spelled_the_same_as_bytes(style, text):
    assert spell_bytes(text, style) == spell(text, style).encode()


@pytest.mark.parametrize(
    ("literal", "letter"),
    [
        (r'"a\/b"', "s"),
        (r'"\u003cb\u003e"', "h"),
        (r'"it\u0027s = \u003d"', None),
        (r'"\u00E9"', "U"),
    ],
)
def test_the_habit_of_a_known_writer_is_found(literal, letter):
    text = {"s": "a/b", "h": "<b>", None: "it's = =", "U": "é"}[letter]

    assert find_habit(text, literal) == letter
