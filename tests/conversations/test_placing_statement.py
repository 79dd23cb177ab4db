from itertools import product

import pytest

from conversations.services.placing_statement import placing_statement

# psycopg keeps what it made of a statement only within these; past them it takes it apart each time.
LONGEST, MOST_PARAMETERS = 4096, 50


@pytest.mark.parametrize(("has_generation", "has_answer", "moves_head"), product([False, True], repeat=3))
def test_every_variant_stays_within_what_the_driver_keeps(has_generation, has_answer, moves_head):
    statement = placing_statement(has_generation=has_generation, has_answer=has_answer, moves_head=moves_head)

    assert len(statement) <= LONGEST
    assert statement.count("%(") <= MOST_PARAMETERS
