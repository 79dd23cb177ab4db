"""A search of the tests' own through every store, beside the product's."""

from pathlib import Path

from tests.conversations.schema.rows import fetch


def everywhere(*words: str) -> list[tuple[str, str]]:
    """The tables in which any of these words stands, in whatever case, as PostgreSQL writes its rows out."""
    tables = fetch(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        " AND has_table_privilege(oid, 'SELECT')"
    )
    return [
        (table, word)
        for (table,) in tables
        for word in words
        if fetch(f'SELECT 1 FROM "{table}" t WHERE position(lower(%s) IN lower(t::text)) > 0 LIMIT 1', word)
    ]


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
