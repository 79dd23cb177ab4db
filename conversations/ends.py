"""The last characters of an id, as people abbreviate one: "…a1b2c3".

Built on tables whose ids people pass on: an index of ends costs 30 bytes a row, which what is
said and called does not earn.
"""

from typing import Final

from django.db.models import TextField
from django.db.models.functions import Cast, Right

# As many as the console's shortened ids show.
SHOWN: Final = 6


def end_of(column: str) -> Right:
    """Return the end of a column as an index's expression; statements spell it `right(x::text, 6)`."""
    return Right(Cast(column, TextField()), SHOWN)
