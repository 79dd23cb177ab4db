"""How statements print a moment and an optional value."""

from collections.abc import Mapping
from datetime import UTC, datetime

from samples.processor.errors import ApiError

FORMATS = {
    "iso": "%Y-%m-%d %H:%M:%S",
    # The dashboard prints its exports in the locale of whoever asks.
    "us": "%m/%d/%Y %I:%M:%S %p",
    "de": "%d.%m.%Y %H:%M:%S",
}


def moment(seconds: int | None, query: Mapping[str, str]) -> str:
    if seconds is None:
        return ""
    name = query.get("dates", "iso")
    if name not in FORMATS:
        raise ApiError(f"Unknown date format. There are: {', '.join(FORMATS)}", param="dates")
    return datetime.fromtimestamp(seconds, UTC).strftime(FORMATS[name])


def optional(value: object) -> str:
    return "" if value is None else str(value)
