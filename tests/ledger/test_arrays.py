"""Conditions on thousands of values, and the indexes that answer them."""

import re

import pytest
from django.db import connection
from django.db.models import Model, Q

from ledger.arrays import among, among_filled
from ledger.models import Compensation, StatementLine
from tests.access.tenants import without_scans

pytestmark = pytest.mark.django_db

# PostgreSQL looks through a hundred values by itself, and no further.
VALUES = [f"ch_{number}" for number in range(101)]
PARTIAL: list[tuple[type[Model], str]] = [
    (StatementLine, "reference"),
    (StatementLine, "charge_ref"),
    (Compensation, "external_ref"),
]


@pytest.mark.parametrize(("model", "column"), PARTIAL)
def test_many_values_are_asked_of_an_index_that_leaves_empty_texts_out(model, column):
    # Some have a second such index, for what begins so.
    assert re.search(rf"Index Cond: \(+{column}\b.* = ANY ", plan(model, among_filled(column, VALUES)))
    # Without saying so, each batch of a reconciliation would read the table from end to end.
    assert "Seq Scan" in plan(model, Q(among(column, VALUES)))


def plan(model: type[Model], condition: Q) -> str:
    sql, parameters = model._base_manager.filter(condition).values("pk").query.sql_with_params()
    with without_scans(), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}", parameters)
        return "\n".join(line for (line,) in cursor.fetchall())
