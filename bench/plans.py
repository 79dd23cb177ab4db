"""What PostgreSQL does for each hot query; a sequential scan of a large table fails the run."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

LARGE_ROWS = 10_000


def show(queries: Mapping[str, Callable[[], object]]) -> int:
    """Run each with its statements captured, print their plans, and return 1 where one scans."""
    from django.db import connection

    has_scan = False
    for name, run in queries.items():
        with _Statements() as statements, connection.execute_wrapper(statements):
            run()
        for sql, parameters in statements.seen:
            plan = _explain(sql, parameters)
            scanned = sorted({node["Relation Name"] for node in _nodes(plan) if _is_large_scan(node)})
            has_scan = has_scan or bool(scanned)
            verdict = f"SCANS {', '.join(scanned)}" if scanned else "ok"
            sys.stdout.write(f"{name}: {verdict}\n{_outline(plan)}\n")
    return 1 if has_scan else 0


class _Statements:
    def __init__(self) -> None:
        self.seen: list[tuple[str, Any]] = []

    def __enter__(self) -> "_Statements":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __call__(self, execute: Callable, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not many and sql.lstrip().upper().startswith(("SELECT", "WITH")):
            self.seen.append((sql, params))
        return execute(sql, params, many, context)


def _explain(sql: str, parameters: Any) -> dict[str, Any]:
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", parameters)
        answer = cursor.fetchone()[0]
        transaction.set_rollback(True)
    plans = json.loads(answer) if isinstance(answer, str) else answer
    return dict(plans[0]["Plan"])


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)


def _is_large_scan(node: dict[str, Any]) -> bool:
    return node["Node Type"] == "Seq Scan" and _rows_of(node["Relation Name"]) > LARGE_ROWS


def _rows_of(table: str) -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(max(reltuples), 0) FROM pg_class WHERE relname = %s", [table])
        return int(cursor.fetchone()[0])


def _outline(plan: dict[str, Any], depth: int = 1) -> str:
    what = plan.get("Index Name") or plan.get("Relation Name") or plan.get("CTE Name") or ""
    lines = [f"{'  ' * depth}{plan['Node Type']} {what}".rstrip()]
    lines += [_outline(child, depth + 1) for child in plan.get("Plans", ())]
    return "\n".join(lines)
