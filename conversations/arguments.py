"""A call's arguments for statistics: derived, in jsonb, and only what is short enough to be counted.

Ids, amounts, currencies and switches are kept; words are not. They stand in the
call's part, and nothing is stored twice.
"""

import re

from conversations.canonical_json import ExactNumber, JsonValue, canonical_bytes
from conversations.drafts import PartDraft
from conversations.units import call_arguments

# jsonb refuses NUL in any string and numbers past numeric's range; it writes long exponents out in full.
_REFUSED = re.compile(r"\\u0000|[0-9]e-?[0-9]{3,}")
_LONGEST = 64
_MOST_MEMBERS = 24


def derived_arguments(part: PartDraft) -> str | None:
    """Return the short members of the arguments as JSON text that jsonb takes, or None without any."""
    try:
        arguments = call_arguments(part)
        if not isinstance(arguments, dict):
            return None
        short = {name: value for name, value in arguments.items() if _is_short(name) and _is_short(value)}
        if not short or len(short) > _MOST_MEMBERS:
            return None
        text = canonical_bytes(short).decode("utf-8")
    except (ValueError, RecursionError):
        return None
    return None if _REFUSED.search(text) else text


def _is_short(value: JsonValue) -> bool:
    if isinstance(value, dict | list):
        return False
    if isinstance(value, ExactNumber):
        # NaN and Infinity, which some writers send, are no JSON to the database.
        return len(value.text) <= _LONGEST and value.text.strip("-") not in ("NaN", "Infinity")
    return len(str(value)) <= _LONGEST
