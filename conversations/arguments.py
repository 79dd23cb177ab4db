"""A call's arguments for statistics: derived, in jsonb, and null where jsonb cannot hold them."""

import re

from conversations.canonical_json import canonical_bytes
from conversations.drafts import PartDraft
from conversations.identity import call_arguments

# jsonb refuses NUL in any string and numbers past numeric's range; it writes long exponents out in full.
_REFUSED = re.compile(r"\\u0000|[0-9]e-?[0-9]{3,}")
_LARGEST = 8192


def derived_arguments(part: PartDraft) -> str | None:
    """Return the arguments as JSON text that jsonb takes, or None; large ones are no use to statistics."""
    try:
        text = canonical_bytes(call_arguments(part)).decode("utf-8")
    except (ValueError, RecursionError):
        return None
    return text if len(text) <= _LARGEST and not _REFUSED.search(text) else None
