"""Which reads of a key become a line of the access log: all, unless the operator allows less.

Where machines read all day, a line for each read can outgrow what was read. A key may then log a share of its
reads, and never a smaller one than the operator's `API_READS_LOGGED_PERCENT` demands.
"""

import secrets

from django.conf import settings

from access.models.api_key import EVERY_READ, ApiKey


def logged_percent(key: ApiKey) -> int:
    """Return of how many reads in a hundred a line is written: the key's own share, or the floor."""
    floor = min(max(settings.API_READS_LOGGED_PERCENT, 1), EVERY_READ)
    return max(key.reads_logged_percent, floor)


def is_logged(key: ApiKey) -> bool:
    """Draw a lot for one read, by nothing that the reader could choose or foresee."""
    percent = logged_percent(key)
    return percent == EVERY_READ or secrets.randbelow(EVERY_READ) < percent
