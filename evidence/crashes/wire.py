"""The application's side of the wire: one request to the store, on a connection of its own."""

import json
from http.client import HTTPConnection
from typing import Any

_TIMEOUT_SECONDS = 30
_FIRST_REFUSAL = 400


class RefusedError(Exception):
    """The store answered with a problem."""


def send(address: str, path: str, *, secret: str, body: dict[str, Any]) -> dict[str, Any]:
    """POST to the API and return the answer; whatever else happens is raised, as a job would fail."""
    connection = HTTPConnection(address, timeout=_TIMEOUT_SECONDS)
    try:
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        connection.request("POST", f"/api/v1/{path}", json.dumps(body).encode(), headers)
        response = connection.getresponse()
        answer = response.read()
    finally:
        connection.close()
    if response.status >= _FIRST_REFUSAL:
        raise RefusedError(f"{path}: {response.status} {answer[:500]!r}")
    told: dict[str, Any] = json.loads(answer)
    return told
