"""The list of conversations at a million messages: first and far pages, common and rare filters.

The verdict is by the median of each way; beside it stands the quickest round.
"""

import sys
from urllib.parse import urlencode

from bench import large, staff

MOST_MILLISECONDS = 60.0
FILTERS = {
    "a common tool": {"tool": "refund_payment"},
    "a tool that nobody called": {"tool": "no_such_tool"},
    "a common model": {"model": "claude-sonnet-4-5"},
    "a model that nobody asked": {"model": "no-such-model"},
    "last attempt complete": {"status": "complete"},
    "last attempt failed": {"status": "failed"},
    "last attempt cut off": {"status": "truncated"},
    "forked": {"has_fork": "true"},
    "with effects": {"has_effect": "true"},
    "not replayable": {"is_replayable": "false"},
    "imported": {"source": "imported"},
    "a customer": {"account": "customer-7"},
    "nobody": {"account": "no-such-customer"},
    "forked, failed": {"has_fork": "true", "status": "failed"},
}


def main(arguments: list[str]) -> int:
    there = large.ensure(large.wanted(arguments))
    sys.stdout.write(f"  at {there:,} messages, {staff.ROUNDS} rounds each\n")
    from django.urls import reverse

    address = reverse("console:conversations")
    ways = {
        "first page": [address],
        "far page": [f"{address}?{urlencode({'after': _far_cursor(share)})}" for share in (0.3, 0.6, 0.9)],
        **{name: [f"{address}?{urlencode(query)}"] for name, query in FILTERS.items()},
    }
    kept = [staff.page_within(name, addresses, MOST_MILLISECONDS) for name, addresses in ways.items()]
    return 0 if all(kept) else 1


def _far_cursor(share: float) -> str:
    """The cursor of a conversation with so much of the list before it."""
    from conversations.models import Conversation
    from conversations.paging import page_by_key

    ordered = Conversation.objects.order_by("-last_activity_at", "-id")
    at = ordered[int(ordered.count() * share)].last_activity_at
    older = Conversation.objects.filter(last_activity_at__lte=at)
    return page_by_key(older, moment="last_activity_at", size=1).older
