import pytest

from console.thread import json_view


@pytest.mark.parametrize(
    "text",
    ['{"a": 1.10, "b": [1e2, -0, null], "a": true}', '"\\ud83d"', "[]", "{}", "12345678901234567890123"],
)
def test_a_value_keeps_its_order_spellings_and_repeated_keys(text):
    assert json_view.on_one_line(json_view.read(text)).replace("\ud83d", "\\ud83d") == text


def test_long_values_stand_on_several_lines():
    text = json_view.laid_out(
        json_view.read('{"booking": "' + "x" * 100 + '", "passengers": [1, 2], "none": {}}')
    )

    assert text.split("\n") == [
        "{",
        f'  "booking": "{"x" * 100}",',
        '  "passengers": [',
        "    1,",
        "    2",
        "  ],",
        '  "none": {}',
        "}",
    ]


def test_keys_that_occur_twice_are_named_with_their_place():
    value = json_view.read('{"q": [{"zeta": 1, "zeta": 2, "eta": 3}], "r": {"a": {"b": 1, "b": 1}}, "r": 0}')

    assert json_view.repeated_keys(value) == ["r", "q.zeta", "r.a.b"]


def test_a_peek_names_each_argument():
    value = json_view.read('{"booking_ref": "WM-58213", "passengers": 2, "seats": ["14C"]}')

    assert json_view.peek_of(value) == 'booking_ref "WM-58213", passengers 2, seats ["14C"]'
    assert json_view.peek_of("free words") == '"free words"'


@pytest.mark.parametrize("text", ["", "{", '{"a"}', "[" * 500 + "]" * 500, "[" * 100_000, "\x00"])
def test_what_is_no_json_or_nested_too_deep_is_refused(text):
    with pytest.raises(ValueError, match=r"Expecting|Unterminated|nested|Extra"):
        json_view.read(text)
