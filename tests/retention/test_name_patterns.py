"""How the name of an erased person is looked for: in every way in which a store may hold it."""

import json
import unicodedata
from urllib.parse import quote_plus

import pytest
from django.db import connection

from retention.erasure.patterns import byte_forms, byte_like_patterns, holds_any, like_patterns, written_forms

NAME = "Álvaro Örnsköld"
WRITTEN = {
    "as it is": NAME,
    "small": NAME.lower(),
    "in capitals": NAME.upper(),
    "decomposed": unicodedata.normalize("NFD", NAME),
    "decomposed capitals": unicodedata.normalize("NFD", NAME.upper()),
    "escaped": json.dumps(NAME)[1:-1],
    "escaped in capitals": json.dumps(NAME.upper())[1:-1],
    "in an address": quote_plus(NAME),
}


@pytest.mark.parametrize("name", [NAME, NAME.lower(), unicodedata.normalize("NFD", NAME)], ids=ascii)
@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN.keys())
def test_a_name_is_found_however_it_is_written(db, name, written):
    text = f"for {written}."

    assert holds_any(text.encode(), byte_forms([name]))
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s ILIKE ANY(%s)", [text, like_patterns([name])])
        in_text = cursor.fetchone()
        cursor.execute(
            "SELECT encode(%s, 'escape') ILIKE ANY(%s)", [text.encode(), byte_like_patterns([name])]
        )
        in_bytes = cursor.fetchone()
    assert (in_text, in_bytes) == ((True,), (True,))


def test_another_name_is_not_found():
    assert not holds_any(b"for Alvaro Ornskold", byte_forms([NAME]))


def test_a_plain_name_is_one_pattern_more_only_where_it_is_written_otherwise():
    assert written_forms("Q.Sample@example.org") == [
        "q.sample%40example.org",
        "q.sample@example.org",
    ]
