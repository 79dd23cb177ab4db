"""An address that will go: since when that is known, when it goes, and what takes its place."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from django.http import HttpResponseBase
from django.utils.http import http_date

SHORTEST_NOTICE: Final = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Deprecation:
    """Told with every answer of the address: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), `Link`.

    Days are of UTC and begin at midnight; `successor` is an address.
    """

    since: date
    goes_on: date
    successor: str

    def __post_init__(self) -> None:
        if self.goes_on - self.since < SHORTEST_NOTICE:
            raise ValueError(f"an address goes {SHORTEST_NOTICE.days} days after that is said, or later")

    def tell(self, response: HttpResponseBase) -> None:
        response["Deprecation"] = f"@{_seconds(self.since)}"
        response["Sunset"] = http_date(_seconds(self.goes_on))
        response["Link"] = f'<{self.successor}>; rel="successor-version"'


def _seconds(day: date) -> int:
    return int(datetime.combine(day, time.min, UTC).timestamp())
