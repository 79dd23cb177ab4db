"""Search: late by design. It reads copies that are a minute old or more, never the books.

An object that was just written is missing, one that was just changed shows its old self, and so an
empty answer proves nothing.
"""

import json
import operator
import re

from samples.processor.call import Call
from samples.processor.errors import ApiError, Body

LAG_SECONDS = 60

_CLAUSE = re.compile(
    r"""\s*(?:metadata\[(?P<mq>['"])(?P<key>.+?)(?P=mq)\]|(?P<field>[a-z_]+))\s*(?P<op>[:~]|[<>]=?)\s*"""
    r"""(?:(?P<vq>['"])(?P<text>.*?)(?P=vq)|(?P<number>\d+))\s*(?:AND\b|$)"""
)
_COMPARE = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


def search_charges(call: Call) -> Body:
    return _search(call, "charge", url="/v1/charges/search")


def search_customers(call: Call) -> Body:
    return _search(call, "customer", url="/v1/customers/search")


def search_intents(call: Call) -> Body:
    return _search(call, "payment_intent", url="/v1/payment_intents/search")


def _search(call: Call, kind: str, *, url: str) -> Body:
    clauses = _parse(call.values["query"])
    lag = call.store.setting("search_lag", LAG_SECONDS)
    rows = call.store.rows(
        "SELECT body FROM search_copy WHERE seq IN"
        " (SELECT max(seq) FROM search_copy WHERE kind = ? AND written_at <= ? GROUP BY id)"
        " ORDER BY json_extract(body, '$.created') DESC, seq DESC",
        kind,
        call.now - lag,
    )
    found = [body for row in rows if _matches(body := json.loads(row["body"]), clauses)]
    start = int(call.values.get("page", "0")) if call.values.get("page", "0").isdecimal() else 0
    end = start + call.values.get("limit", 10)
    has_more = end < len(found)
    return {
        "object": "search_result",
        "data": found[start:end],
        "has_more": has_more,
        "next_page": str(end) if has_more else None,
        "url": url,
    }


def _parse(query: str) -> list[re.Match[str]]:
    """Clauses joined by AND; the real service also knows OR and negation, which we refuse."""
    clauses, at = [], 0
    while at < len(query.rstrip()):
        match = _CLAUSE.match(query, at)
        if match is None:
            raise ApiError(f"We were unable to parse your search query at: {query[at:]}", param="query")
        clauses.append(match)
        at = match.end()
    return clauses


def _matches(body: Body, clauses: list[re.Match[str]]) -> bool:
    for clause in clauses:
        value = body.get("metadata", {}).get(clause["key"]) if clause["key"] else body.get(clause["field"])
        wanted = clause["text"] if clause["text"] is not None else clause["number"]
        if value is None:
            return False
        if clause["op"] in _COMPARE:
            if not wanted.isdecimal() or not _COMPARE[clause["op"]](value, int(wanted)):
                return False
        elif clause["op"] == "~":
            if wanted not in str(value):
                return False
        elif str(value) != wanted:
            return False
    return True
