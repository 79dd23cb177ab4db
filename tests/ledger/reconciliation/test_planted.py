"""A small planted month: every difference is found once, and nothing that only looks like one."""

import pytest

from evidence.planted import prove

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("seed", [1, 2])
def test_every_kind_is_found_once_and_nothing_else(seed):
    line = prove(seed=seed, effects=100, each=1)

    assert "21 planted and found once each" in line
    assert "mended 10, closed 10" in line
