"""Calls of the API, as short as a test needs them."""

from dataclasses import dataclass
from itertools import count
from typing import Any

from rest_framework.test import APIClient

ROOT = "/api/v1"
# A call as it crossed the wire.
REQUEST = (
    b'{"model": "claude-sonnet-4-5", "max_tokens": 100, "system": "Be brief.",'
    b' "messages": [{"role": "user", "content": "Where is  order 1042?"}]}'
)
ANSWER = (
    b'{"id":"msg_9","type":"message","role":"assistant","model":"claude-sonnet-4-5",'
    b'"content":[{"type":"text","text":"On its way."}],"stop_reason":"end_turn",'
    b'"usage":{"input_tokens":20,"output_tokens":4}}'
)
_NUMBERS = count(1)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def attempt(request_id: str = "", **fields: Any) -> dict[str, Any]:
    return {
        "request_id": request_id or f"request-{next(_NUMBERS)}",
        "model": "claude-sonnet-4-5",
        "dialect": "anthropic_messages",
        **fields,
    }


@dataclass(frozen=True)
class Talk:
    """One conversation, and the client that speaks of it."""

    client: APIClient
    id: str

    @property
    def url(self) -> str:
        return f"{ROOT}/conversations/{self.id}"

    def message_id(self, seq: int) -> str:
        return f"{self.id}.m{seq}"

    def get(self, address: str = "", **headers: str) -> Any:
        return self.client.get(f"{self.url}{address}", **headers)

    def post(self, address: str, body: dict[str, Any], **headers: str) -> Any:
        return self.client.post(f"{self.url}{address}", body, **headers)

    def append(self, *parts: dict[str, Any], status: int = 201, **fields: Any) -> Any:
        answer = self.post("/messages", {"parts": list(parts), **fields})
        assert answer.status_code == status, answer.json()
        return answer.json()

    def ask(self, words: str, **fields: Any) -> Any:
        """Append a user's message and open an attempt."""
        return self.append(text(words), **{"generation": attempt(), **fields})

    def finish(self, generation_id: str, words: str, status: int = 200, **fields: Any) -> Any:
        body = {"message": {"parts": [text(words)]}, **fields}
        answer = self.client.post(f"{ROOT}/generations/{generation_id}/finish", body)
        assert answer.status_code == status, answer.json()
        return answer.json()

    def path(self) -> list[str]:
        """The words of each message on the live path."""
        return [message["parts"][0]["text"] for message in self.get().json()["path"]]


def call(call_id: str = "toolu_1", **fields: Any) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "tool_call_id": call_id,
        "tool_name": "get_order",
        "arguments": {"id": 1042},
        **fields,
    }


def parts_of(talk: Talk, seq: int) -> Any:
    answer = talk.get(f"/messages/{seq}")
    assert answer.status_code == 200
    return answer.json()["parts"]


def end(talk: Talk, generation_id: str, how: str, body: dict[str, Any]) -> Any:
    """Finish, fail, cancel or regenerate: the end of an attempt's own address says which."""
    return talk.client.post(f"{ROOT}/generations/{generation_id}/{how}", body)
