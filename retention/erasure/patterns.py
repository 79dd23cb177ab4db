"""How a name may be written in a store: plain, in any case, escaped as JSON does, or as an address does."""

import json
import unicodedata
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

type Patterns = list[str]


def written_forms(name: str) -> list[str]:
    """Return the ways in which the name may stand in a text, its ASCII letters in lower case.

    Other letters stand as they are written, in either case and either Unicode form: bytes know no case
    beyond ASCII, and neither does a database of the C locale.
    """
    forms: set[str] = set()
    for spelt in _spellings(name):
        forms |= {
            spelt,
            json.dumps(spelt)[1:-1],
            json.dumps(spelt, ensure_ascii=False)[1:-1],
            quote(spelt, safe=""),
            quote(spelt),
            quote_plus(spelt),
        }
    return sorted({_in_lower_ascii(form) for form in forms})


def _spellings(name: str) -> set[str]:
    cased = (name, name.lower(), name.casefold(), name.upper(), name.title())
    return {unicodedata.normalize(form, one) for one in cased for form in ("NFC", "NFD")}


def _in_lower_ascii(form: str) -> str:
    return form.encode().lower().decode()


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
    return sorted({form.encode() for name in names for form in written_forms(name)})


def holds_any(content: bytes, forms: list[bytes]) -> bool:
    """Tell whether any form stands in the bytes, ASCII letters of any case; others as they are written."""
    lowered = content.lower()
    return any(form in lowered for form in forms)


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
