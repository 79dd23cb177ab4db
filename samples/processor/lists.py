"""Pages of objects, newest first, as every list of the API."""

from collections.abc import Mapping
from typing import Any

from samples.processor.call import Call
from samples.processor.errors import Body

PAGE_SIZE = 10


def list_objects(
    call: Call,
    kind: str,
    *,
    url: str,
    equal: Mapping[str, Any] | None = None,
    among: Mapping[str, list[str]] | None = None,
    created: Mapping[str, int] | None = None,
) -> Body:
    limit = call.values.get("limit", PAGE_SIZE)
    after, before = call.values.get("starting_after"), call.values.get("ending_before")
    beyond = None
    if after is not None:
        beyond = ("<", call.store.get(kind, after, param="starting_after")["id"])
    elif before is not None:
        beyond = (">", call.store.get(kind, before, param="ending_before")["id"])
    found = call.store.page(
        kind,
        equal=equal or {},
        among=among or {},
        created={**call.values.get("created", {}), **(created or {})},
        beyond=beyond,
        limit=limit + 1,
    )
    has_more, data = len(found) > limit, found[:limit]
    if before is not None and after is None:
        data.reverse()
    return {"object": "list", "data": data, "has_more": has_more, "url": url}
