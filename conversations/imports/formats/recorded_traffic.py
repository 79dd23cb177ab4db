"""Recorded provider traffic: a line for each call, with the bodies of request and response.

Bodies are strings as they crossed the wire, or objects; from objects the bytes
are written anew, and the report says so. Of headers the API's version, the
betas and the request's id are read, never a key. The calls go through the
recorder, which finds the conversations in them.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from conversations.imports import exact_json
from conversations.imports.drafting import as_dict, as_list, as_text, moment_of
from conversations.imports.streams import Document, Record
from conversations.imports.traffic import TrafficCall
from conversations.imports.trouble import Broken, UnreadableError
from conversations.vocabulary import Dialect
from conversations.wire.dialects import detect_dialect, dialect_of_path
from conversations.wire.literals import readable_copy
from conversations.wire.shapes import WireError

LABEL: Final = "recorded provider traffic"
# How other providers name what generates: Gemini, Bedrock.
_GENERATES: Final = re.compile(r":(?:stream)?generateContent|/(?:converse|invoke)\b", re.IGNORECASE)
_PROVIDERS: Final = {"anthropic": Dialect.ANTHROPIC_MESSAGES}


def sniff(records: Sequence[Record]) -> bool:
    return any(_bodies(as_dict(record.value)) is not None for record in records)


def read(document: Document) -> Iterator[TrafficCall | Broken]:
    occurrences: Counter[str] = Counter()
    for record in document.records():
        place = f"{document.name}, {record.place}"
        if record.trouble:
            yield Broken(place, record.trouble, raw=record.raw)
            continue
        try:
            yield _call(record, place, occurrences)
        except UnreadableError as trouble:
            yield Broken(place, trouble.reason, raw=record.raw)


def _bodies(value: dict[str, object]) -> tuple[object, object] | None:
    """The two bodies by either way of naming them; None where the record holds none."""
    if "request_body" in value and "response_body" in value:
        return value["request_body"], value["response_body"]
    request, response = value.get("request"), value.get("response")
    if isinstance(request, dict | str) and "response" in value:
        return as_dict(request).get("body", request), as_dict(response).get("body", response)
    return None


def _call(record: Record, place: str, occurrences: Counter[str]) -> TrafficCall:
    value = as_dict(record.value)
    bodies = _bodies(value)
    if bodies is None:
        raise UnreadableError("a record without the bodies of a request and its response")
    notes: list[str] = []
    sent, came = _headers(value, "request"), _headers(value, "response")
    request_body = _bytes(bodies[0], "request", notes)
    if request_body is None:
        raise UnreadableError("a record without the body of its request")
    return TrafficCall(
        place=place,
        exchange_id=_exchange_id(value, record.raw, occurrences),
        dialect=_dialect(value, request_body),
        request_body=request_body,
        response_body=_bytes(bodies[1], "response", notes),
        provider=readable_copy(as_text(value.get("provider")))[:32],
        http_status=_status(value),
        conversation_ref=readable_copy(as_text(value.get("conversation"))),
        account_external_id=as_text(value.get("account")),
        request_id=readable_copy(as_text(value.get("request_id"))),
        api_version=readable_copy(as_text(value.get("api_version")) or sent.get("anthropic-version", ""))[
            :64
        ],
        beta_headers=readable_copy(as_text(value.get("beta_headers")) or _betas(sent))[:1024],
        provider_request_id=readable_copy(as_text(value.get("provider_request_id")) or _request_id(came)),
        started_at=moment_of(value.get("started_at")) or moment_of(value.get("timestamp")),
        finished_at=moment_of(value.get("finished_at")),
        raw=record.raw,
        notes=notes,
    )


def _headers(value: dict[str, object], side: str) -> dict[str, str]:
    """One side's headers by their names in lower case: a map, or a list of pairs or of names and values."""
    stated = as_dict(value.get(side)).get("headers", value.get(f"{side}_headers"))
    pairs: list[tuple[object, object]] = list(as_dict(stated).items())
    for one in as_list(stated):
        fields = as_dict(one)
        pair = as_list(one)
        pairs.append((pair[0], pair[1]) if len(pair) == 2 else (fields.get("name"), fields.get("value")))
    found: dict[str, str] = {}
    for name, words in pairs:
        said = ",".join(as_text(word) for word in words) if isinstance(words, list) else as_text(words)
        key = as_text(name).lower()
        found[key] = f"{found[key]},{said}" if key in found else said
    return found


def _betas(sent: dict[str, str]) -> str:
    return sent.get("anthropic-beta", "") or sent.get("openai-beta", "")


def _request_id(came: dict[str, str]) -> str:
    return came.get("request-id", "") or came.get("x-request-id", "")


def _bytes(body: object, what: str, notes: list[str]) -> bytes | None:
    if body is None:
        return None
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    notes.append(f"the {what}'s body was kept as values; its bytes are written anew")
    return exact_json.dump(body)


def _exchange_id(value: dict[str, object], raw: bytes, occurrences: Counter[str]) -> str:
    """The recorder's own id of the call; without one the record itself, and which of equal ones it is."""
    stated = readable_copy(as_text(value.get("exchange_id")))
    if stated:
        return stated
    digest = hashlib.sha256(raw).hexdigest()
    occurrences[digest] += 1
    number = occurrences[digest]
    return f"import:{digest}" + (f":{number}" if number > 1 else "")


def _dialect(value: dict[str, object], request_body: bytes) -> Dialect:
    stated = as_text(value.get("dialect"))
    if stated in Dialect.values:
        return Dialect(stated)
    path = (
        as_text(value.get("path"))
        or as_text(value.get("url"))
        or as_text(as_dict(value.get("request")).get("url"))
    )
    if path:
        found = dialect_of_path(path)
        if found is None:
            what = "a call in no dialect that we know" if _GENERATES.search(path) else "no call to a model"
            raise UnreadableError(f"{what}: {readable_copy(path[:120])}")
        return found
    try:
        found = detect_dialect(request_body)
    except WireError as error:
        raise UnreadableError(f"a request in no dialect that we know ({error})") from None
    found = found or _PROVIDERS.get(as_text(value.get("provider")))
    if found is None:
        raise UnreadableError("a request in no dialect that we know")
    return found


def _status(value: dict[str, object]) -> int | None:
    for holder in (value, as_dict(value.get("response"))):
        for name in ("response_status", "status", "status_code"):
            status = holder.get(name)
            if isinstance(status, int) and not isinstance(status, bool) and 100 <= status < 600:
                return status
    return None
