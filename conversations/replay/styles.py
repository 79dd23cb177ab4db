"""The style of a body as one small number, as it is stored: none is ever given another meaning."""

from conversations.wire.shapes import Style

_SPACE_AFTER_COMMA, _SPACE_AFTER_COLON, _ASCII = 1, 2, 4


def style_number(style: Style) -> int:
    return (
        _SPACE_AFTER_COMMA * (style.comma == ", ")
        + _SPACE_AFTER_COLON * (style.colon == ": ")
        + _ASCII * style.is_ascii
    )


def style_of(number: int) -> Style:
    return Style(
        comma=", " if number & _SPACE_AFTER_COMMA else ",",
        colon=": " if number & _SPACE_AFTER_COLON else ":",
        is_ascii=bool(number & _ASCII),
    )
