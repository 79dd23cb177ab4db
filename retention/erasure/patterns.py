"""How a name may be written in a store: plain, in any case, escaped as JSON does, or as an address does."""

import json
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

type Patterns = list[str]


def written_forms(name: str) -> list[str]:
    """Return the ways in which the name may stand in a text, without case."""
    forms = {
        name,
        json.dumps(name)[1:-1],
        json.dumps(name, ensure_ascii=False)[1:-1],
        quote(name, safe=""),
        quote(name),
        quote_plus(name),
    }
    return sorted({form.casefold() for form in forms} | {form.lower() for form in forms})


def like_patterns(names: Iterable[str]) -> Patterns:
    """Return the names as patterns for ILIKE ANY."""
    return [f"%{_literal(form)}%" for name in names for form in written_forms(name)]


# How PostgreSQL writes bytes out ("escape"): octal above ASCII, the backslash doubled.
_WRITTEN = {0: "\\000", 92: "\\\\"} | {byte: f"\\{byte:03o}" for byte in range(128, 256)}


def byte_like_patterns(names: Iterable[str]) -> Patterns:
    """Return the names as patterns for `encode(…, 'escape') ILIKE ANY`."""
    written = ("".join(_WRITTEN.get(byte) or chr(byte) for byte in form) for form in byte_forms(names))
    return [f"%{_literal(form)}%" for form in written]


def byte_forms(names: Iterable[str]) -> list[bytes]:
    """Return the names as bytes, for looking into files; compare with the file's bytes in lower case."""
    return sorted({form.encode().lower() for name in names for form in written_forms(name)})


def holds_any(content: bytes, forms: list[bytes]) -> bool:
    """Tell whether any form stands in the bytes, ASCII letters of any case; others as they are written."""
    lowered = content.lower()
    return any(form in lowered for form in forms)


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
