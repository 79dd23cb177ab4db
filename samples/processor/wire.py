"""A request as it arrived and an answer as it leaves."""

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from samples.processor.errors import ApiError, Body

type Raw = str | dict[str, "Raw"]
Form = dict[str, Raw]

# How the connection ends: not at all, before anything ran, after it ran without an answer, or
# in the middle of the answer.
Cut = Literal["", "before", "silent", "midway"]

MAX_DEPTH = 5
_KEY = re.compile(r"^([^\[\]]+)((?:\[[^\[\]]*\])*)$")


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return unquote(urlsplit(self.target).path)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Query and form, in the order sent. Stripe's API takes either."""
        text = [urlsplit(self.target).query, self.body.decode("utf-8", "replace")]
        return [pair for part in text for pair in parse_qsl(part, keep_blank_values=True)]

    @property
    def form(self) -> Form:
        return decode_form(self.pairs)

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    def json(self) -> Body:
        """The body of a control request."""
        try:
            value = json.loads(self.body or b"{}")
        except ValueError as error:
            raise ApiError(f"The body is not JSON: {error}") from error
        if not isinstance(value, dict):
            raise ApiError("The body must be a JSON object.")
        return value


@dataclass
class Reply:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    cut: Cut = ""


def encode(body: Any) -> bytes:
    """JSON as Stripe prints it, in UTF-8 and over several lines."""
    return json.dumps(body, indent=2, ensure_ascii=False).encode()


def json_reply(status: int, body: Any, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, encode(body), {"Content-Type": "application/json", **(headers or {})})


def decode_form(pairs: list[tuple[str, str]]) -> Form:
    """`metadata[k]=v` as nested dictionaries. Lists stay dictionaries under their index."""
    form: Form = {}
    for key, value in pairs:
        match = _KEY.match(key)
        if match is None:
            raise ApiError(f"Invalid parameter name: {key}", code="parameter_unknown", param=key)
        inner = re.findall(r"\[([^\[\]]*)\]", match[2])
        if len(inner) > MAX_DEPTH:
            raise ApiError(f"Parameter nested too deeply: {key}", param=key)
        _place(form, [match[1], *inner], value, param=key)
    return form


def _place(form: Form, steps: list[str], value: str, *, param: str) -> None:
    at = form
    for step in steps[:-1]:
        below = at.setdefault(step, {})
        if not isinstance(below, dict):
            raise ApiError(f"Invalid object: {param}", param=steps[0])
        at = below
    last = steps[-1] or str(len(at))  # `expand[]=` appends
    if isinstance(at.get(last), dict):
        raise ApiError(f"Invalid object: {param}", param=steps[0])
    at[last] = value
