"""Statement exports as CSV. Amounts here are decimal major units, unlike anywhere in the API."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping

from samples.processor import balance_statements, payments_statement
from samples.processor.call import Call
from samples.processor.clock import parse_moment
from samples.processor.errors import ApiError, Body

Row = Mapping[str, str]
Export = Callable[[Call, list[Body], Mapping[str, str]], tuple[list[str], Iterable[Row]]]

# The name in the address: the kind of object that fills it, and what makes its rows.
EXPORTS: dict[str, tuple[str, Export]] = {
    "payments.csv": ("charge", payments_statement.rows),
    "balance_history.csv": ("balance_transaction", balance_statements.history_rows),
    "balance_change_from_activity.itemized.6.csv": (
        "balance_transaction",
        balance_statements.activity_rows,
    ),
}


def export(call: Call, name: str, query: Mapping[str, str]) -> bytes:
    """The export between `since` and `until` (not included), with a byte order mark if `bom=true`."""
    if name not in EXPORTS:
        raise ApiError(f"No such statement. There are: {', '.join(EXPORTS)}", status=404)
    kind, make = EXPORTS[name]
    since = parse_moment(query["since"]) if "since" in query else 0
    until = parse_moment(query["until"]) if "until" in query else call.now + 1
    objects = [body for body in call.store.all(kind) if since <= body["created"] < until]
    columns, rows = make(call, objects, query)
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("utf-8-sig" if query.get("bom") == "true" else "utf-8")
