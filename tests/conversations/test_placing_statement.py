from itertools import product

import pytest

from conversations.services.placing_statement import placing_statement

# psycopg keeps what it made of a statement only within these; past them it takes it apart each time.
LONGEST, MOST_PARAMETERS = 4096, 50


VARIANTS = ("has_generation", "has_answer", "moves_head", "has_calls")


@pytest.mark.parametrize(
    "chosen", [dict(zip(VARIANTS, v, strict=True)) for v in product([False, True], repeat=4)]
)
def test_every_variant_stays_within_what_the_driver_keeps(chosen):
    statement = placing_statement(**chosen)

    assert len(statement) <= LONGEST
    assert statement.count("%(") <= MOST_PARAMETERS
