"""How tests ask what an SDK would not, and what they look at in an answer."""

import json
from typing import Any

from rest_framework.test import APIClient


def post_raw(client: APIClient, address: str, body: Any) -> Any:
    """Post what a client's own encoder refuses: bytes as they are, JSON with half surrogate pairs."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.generic("POST", address, raw, content_type="application/json")


def refusal(answer: Any) -> tuple[int, str]:
    """The status of an answer that is a problem, and the rule that was broken."""
    return answer.status_code, json.loads(answer.content)["rule"]
