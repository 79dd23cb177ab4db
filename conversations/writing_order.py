"""The order in which rows were written: a number of the database, not a time that anybody names.

A row says when it happened, and that time is an argument: it may be from before a request to a
processor that took a minute, and its transaction may commit later still. What must be read twice
alike goes by this number as well. Whoever draws a number here can wait for all smaller ones:
see `ledger.reconciliation.writers`.
"""

from typing import Final

from django.db import connection
from django.db.models import BigIntegerField, Func

SEQUENCE: Final = "conversations_writing_order"
# Rows from before there were numbers.
UNNUMBERED: Final = 0


class NextInOrder(Func):
    """The next number, as a column's default.

    A transaction has its id, and holds the lock on it, before it has a number: CASE keeps that order.
    So whoever draws a number and then looks at those locks sees everybody who holds a smaller one.
    """

    template = f"CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('{SEQUENCE}') END"
    output_field = BigIntegerField()


def next_in_order() -> int:
    """Draw a number: what is written from now on has a greater one."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {NextInOrder.template}")
        return int(cursor.fetchone()[0])
