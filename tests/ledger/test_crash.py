"""The crash proof in small: processes are killed at every commit and every request, once each.

`script/evidence crash` strikes at every statement too, and at the database connection.
"""

import pytest

from evidence.crash import prove, prove_over_http, remote_world_in, world_in

pytestmark = pytest.mark.django_db(transaction=True)


def test_nothing_is_charged_twice_and_nothing_stays_unexplained(tmp_path, capsys):
    with world_in(tmp_path) as world:
        status = prove(world, runs=1, only_boundaries=True)

    said = capsys.readouterr().out
    assert status == 0, said
    assert "0 customers charged twice, 0 unexplained" in said


def test_neither_where_application_and_web_server_are_killed(tmp_path, capsys):
    with remote_world_in(tmp_path) as world:
        status = prove_over_http(world, runs=16)

    said = capsys.readouterr().out
    assert status == 0, said
    assert "16 runs over 16 points" in said
    assert "0 customers charged twice, 0 unexplained" in said
