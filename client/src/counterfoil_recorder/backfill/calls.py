"""A line of recorded traffic as an exchange that the store takes: the shapes that its import reads too."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlsplit

from counterfoil_recorder.dialects import dialect_of
from counterfoil_recorder.exchanges import Parcel
from counterfoil_recorder.tickets import Ticket

DIALECTS: Final = ("anthropic_messages", "openai_chat", "openai_responses")
_WORDS: Final = (
    "request_id",
    "retry_of",
    "prompt_version",
    "provider",
    "api_version",
    "beta_headers",
    "provider_request_id",
)
_MOMENTS: Final = ("started_at", "first_token_at", "finished_at")
_STATUSES: Final = ("response_status", "http_status", "status", "status_code")
# Later than the year 5000 in seconds: then they are milliseconds.
_MILLISECONDS_FROM: Final = 1e11


class BadLine(Exception):
    """A line that cannot be sent; the reason is its text."""


class NoCall(Exception):
    """Traffic that is no call to a model; the text says what it is."""


@dataclass(frozen=True, slots=True)
class Call:
    """`lane` names those calls that must arrive one after the other."""

    parcel: Parcel
    lane: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for lines that do not say it: whose they are, and in what format.

    `together` is a member by which lines can be told that belong together.
    """

    account: str = ""
    dialect: str = ""
    together: str = ""


def call_of(raw: bytes, *, terms: Terms, order: int) -> Call:
    """Read a line; BadLine where it is no call that can be sent, NoCall where it is other traffic."""
    value = _object(raw)
    bodies = _bodies(value)
    if bodies is None:
        raise BadLine("the bodies of a request and its response are not there")
    request_body = _bytes(bodies[0])
    if request_body is None:
        raise BadLine("the request has no body")
    account = _text(value.get("account")) or terms.account
    if not account:
        raise BadLine("the line does not say whose call it is: give --account")
    facts: dict[str, Any] = {
        "exchange_id": _text(value.get("exchange_id")) or f"import:{sha256(raw).hexdigest()}",
        "dialect": _dialect(value, terms),
        "account": {"external_id": account},
        "http_status": _status(value),
    }
    conversation, reference = _text(value.get("conversation_id")), _text(value.get("conversation"))
    if conversation:
        facts["conversation"] = conversation
    elif reference:
        facts["external_ref"] = reference
    facts |= {name: found for name in _WORDS if (found := _text(value.get(name)))}
    facts |= {name: found for name in _MOMENTS if (found := _moment(value.get(name)))}
    if "started_at" not in facts and (found := _moment(value.get("timestamp"))):
        facts["started_at"] = found
    return Call(
        parcel=Parcel(
            order=order,
            exchange_id=facts["exchange_id"],
            facts=facts,
            request_body=request_body,
            response_body=_bytes(bodies[1]),
            ticket=Ticket(facts["exchange_id"]),
        ),
        lane=f"{account}\n{conversation or reference or _text(value.get(terms.together))}",
    )


def _object(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except RecursionError:
        raise BadLine("the JSON is nested too deep") from None
    except ValueError as error:
        raise BadLine(f"no JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadLine("no JSON object")
    return value


def _bodies(value: Mapping[str, Any]) -> tuple[Any, Any] | None:
    if "request_body" in value:
        return value["request_body"], value.get("response_body")
    request, response = value.get("request"), value.get("response")
    if isinstance(request, dict | str) and "response" in value:
        return _member(request, "body"), _member(response, "body")
    return None


def _member(value: Any, name: str) -> Any:
    return value.get(name, value) if isinstance(value, dict) else value


def _bytes(body: Any) -> bytes | None:
    """Return the body's bytes; of one that was kept as values they are written anew."""
    if body is None:
        return None
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    # Half a surrogate pair in a string was an escape on the wire, or is no text at all.
    return text.encode("utf-8", "surrogatepass" if isinstance(body, str) else "backslashreplace")


def _dialect(value: Mapping[str, Any], terms: Terms) -> str:
    stated = value.get("dialect")
    if stated in DIALECTS:
        return str(stated)
    request = value.get("request")
    address = _text(value.get("path")) or _text(value.get("url"))
    address = address or (_text(request.get("url")) if isinstance(request, dict) else "")
    if not address:
        if not terms.dialect:
            raise BadLine("the line does not say in what format the call is: give --dialect")
        return terms.dialect
    method = _text(value.get("method")) or "POST"
    found = dialect_of(method.upper(), urlsplit(address).path)
    if found is None:
        raise NoCall(f"{method} {address[:120]}")
    return found


def _status(value: Mapping[str, Any]) -> int | None:
    for holder in (value, value.get("response")):
        for name in _STATUSES:
            status = holder.get(name) if isinstance(holder, dict) else None
            if isinstance(status, int) and not isinstance(status, bool) and 100 <= status < 600:
                return status
    return None


def _moment(value: Any) -> str:
    """Return a time as ISO 8601, from that or from seconds or milliseconds; without a zone it is UTC."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip().removesuffix(" UTC"))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
            moment = datetime.fromtimestamp(seconds, UTC)
        else:
            return ""
    except (ValueError, OverflowError, OSError):
        return ""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
