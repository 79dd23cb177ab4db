from datetime import UTC, datetime

import pytest

from conversations.imports import exact_json
from conversations.imports.drafting import id_of, moment_of

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "spelling",
    [
        "1740830400",
        "1740830400.0",
        "1740830400.000",
        "1.7408304e9",
        "1740830400000",
        '"1740830400.000"',
        '"2025-03-01T12:00:00Z"',
        '"2025-03-01 12:00:00 UTC"',
        '"2025-03-01T14:00:00+02:00"',
        '"2025-03-01T12:00:00.000000000Z"',
    ],
)
def test_a_moment_is_read_however_it_is_spelt(spelling):
    assert moment_of(exact_json.load(spelling.encode())) == NOON


@pytest.mark.parametrize("spelling", ["0", "0.00", "null", "true", "NaN", "1e300", '""', '"yesterday"', "{}"])
def test_what_is_no_moment_stays_unknown(spelling):
    assert moment_of(exact_json.load(spelling.encode())) is None


def test_an_id_is_text_and_what_is_none_stays_recognisable():
    assert [id_of(value) for value in (None, "", "a-1", 17, {"error": 1})] == [
        "",
        "",
        "a-1",
        "17",
        '{"error":1}',
    ]
