"""Every operation of the API with what it is asked with: the table that the matrix of tenants is made from.

An address that somebody adds is asked for here: `tests.api.test_tenancy` fails until it has its line.
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse
from rest_framework.test import APIClient

from access.api.views import ApiView
from tests.access.addresses_of_views import of_the_product
from tests.api.effects import intent, response

PREFIX = "api:v1:"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
NOBODYS = "0193a1b2-0000-7000-8000-00000000ffff"


@dataclass(frozen=True)
class Operation:
    """How one method of one address is asked. `{…}` are names of things, filled in from a `Things`.

    `scope` is what it takes, None where every key may ask. `own` are the statuses that a key of the
    realm may get for its own things. `is_named` is false where nothing is named that could be another
    realm's: then a stranger is answered, and sees none of it (`empty` says where).
    """

    scope: str | None
    body: Any = None
    query: str = ""
    own: frozenset[int] = frozenset({200, 201, 202})
    is_named: bool = True
    empty: str = "data"


READ, WRITE, EFFECTS, PRIVACY = "read", "write", "effects", "privacy"
WORDS = [{"type": "text", "text": "hello"}]
ATTEMPT = {"request_id": "r-9", "model": "claude-sonnet-4-5", "dialect": "anthropic_messages"}


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def refused(*statuses: int) -> frozenset[int]:
    """The key was let in, and the store had a reason of its own."""
    return frozenset({200, 201, 202, *statuses})


OPERATIONS: dict[tuple[str, str], Operation] = {
    ("key", "GET"): Operation(None, is_named=False, empty=""),
    ("conversations", "GET"): Operation(READ, is_named=False),
    ("conversations", "POST"): Operation(
        WRITE, {"account": {"external_id": "{external_id}"}}, is_named=False, empty=""
    ),
    ("conversation", "GET"): Operation(READ),
    ("tree", "GET"): Operation(READ),
    ("head", "GET"): Operation(READ),
    ("head", "PUT"): Operation(WRITE, {"message_id": "{message}"}),
    ("head-moves", "GET"): Operation(READ),
    ("fork", "POST"): Operation(WRITE, {"leaf_id": "{message}"}),
    ("messages", "GET"): Operation(READ),
    # The calls of the last message are not answered yet.
    ("messages", "POST"): Operation(WRITE, {"parts": WORDS}, own=refused(422)),
    ("message", "GET"): Operation(READ),
    ("edit-message", "POST"): Operation(WRITE, {"parts": WORDS}),
    ("tool-results", "POST"): Operation(
        WRITE,
        {
            "parts": [{"type": "tool_result", "tool_call_id": "toolu_1", "text": "done"}],
            "below_id": "{calling}",
        },
    ),
    ("generations", "GET"): Operation(READ),
    ("generations", "POST"): Operation(WRITE, {**ATTEMPT, "leaf_id": "{message}"}),
    ("next-body", "GET"): Operation(READ, own=refused(409, 422)),
    ("context", "GET"): Operation(READ, query="?budget=100"),
    ("summaries", "GET"): Operation(READ),
    ("summaries", "POST"): Operation(
        WRITE, {"from_id": "{message}", "to_id": "{message}", "text": "x", "prompt_version": "s"}
    ),
    ("chunks", "POST"): Operation(
        WRITE, {"message_id": "{message}", "spans": [[1, 2]], "chunking_version": "c-2"}
    ),
    ("citation", "GET"): Operation(READ),
    ("generation", "GET"): Operation(READ),
    ("regenerate", "POST"): Operation(WRITE, {"request_id": "r-10"}, own=refused(409, 422)),
    ("finish-generation", "POST"): Operation(WRITE, {"message": {"parts": WORDS}}),
    ("fail-generation", "POST"): Operation(WRITE, {}),
    ("cancel-generation", "POST"): Operation(WRITE, {}),
    # The attempt of the matrix still runs, or its answer told its usage itself.
    ("usage-of-generation", "POST"): Operation(
        WRITE, {"usage": {"input_tokens": 1, "output_tokens": 1}}, own=refused(409)
    ),
    # No body was recorded for the attempt.
    ("replay-body", "GET"): Operation(READ, own=refused(404, 409, 410)),
    ("exchanges", "POST"): Operation(
        WRITE,
        {
            "exchange_id": "x-{conversation}",
            "dialect": "anthropic_messages",
            "account": {"external_id": "{external_id}"},
            "conversation": "{conversation}",
            "request_body": b64('{"model": "m", "max_tokens": 1, "messages": []}'),
        },
    ),
    ("effects", "GET"): Operation(EFFECTS, is_named=False),
    ("effects", "POST"): Operation(EFFECTS, {"message_id": "{calling}", "call_id": "toolu_1"}),
    ("effect", "GET"): Operation(EFFECTS),
    ("effect-sent", "POST"): Operation(EFFECTS, {}),
    ("effect-settle", "POST"): Operation(EFFECTS, response(intent())),
    ("effect-history", "GET"): Operation(EFFECTS),
    ("questions", "GET"): Operation(EFFECTS, is_named=False),
    ("question", "GET"): Operation(EFFECTS),
    ("holds", "GET"): Operation(PRIVACY, is_named=False),
    ("holds", "POST"): Operation(PRIVACY, {"conversation_id": "{conversation}", "matter": "M-9"}),
    ("hold", "GET"): Operation(PRIVACY),
    ("release-request", "POST"): Operation(PRIVACY, {}),
    ("erasures", "GET"): Operation(PRIVACY, is_named=False),
    ("erasures", "POST"): Operation(PRIVACY, {"accounts": ["{account}"]}, own=refused(409)),
    ("erasure", "GET"): Operation(PRIVACY),
    # It is not done yet.
    ("erasure-receipt", "GET"): Operation(PRIVACY, own=refused(404)),
    ("lookup", "GET"): Operation(READ, query="?id={conversation}", is_named=False),
    ("search", "GET"): Operation(READ, query="?q=hello", is_named=False),
    ("usage", "GET"): Operation(READ, query="?by=account", is_named=False),
    ("tool-statistics", "GET"): Operation(READ, is_named=False, empty="tools"),
    ("jobs", "POST"): Operation(
        WRITE,
        {"kind": "conversations.verify_replay", "parameters": {"conversation": "{conversation}"}},
        own=refused(409),
    ),
    ("job", "GET"): Operation(WRITE),
}
# The addresses whose scope depends on what the body names, or on what is found.
OPEN_TO_EVERY_KEY = {"key", "jobs", "job"}


@dataclass
class Things:
    """What addresses and bodies name, by the names in braces."""

    ids: dict[str, str] = field(default_factory=dict)

    @classmethod
    def nobodys(cls) -> "Things":
        """The same names for what does not exist."""
        return cls(
            dict.fromkeys(("conversation", "effect", "question", "hold", "job", "chunk", "account"), NOBODYS)
            | {
                "message": f"{NOBODYS}.m1",
                "calling": f"{NOBODYS}.m2",
                "generation": f"{NOBODYS}.g1",
                "erasure": "ER-2026-9999",
                "external_id": "cus-nobody",
            }
        )

    def fill(self, template: Any) -> Any:
        match template:
            case str():
                for name, value in self.ids.items():
                    template = template.replace(f"{{{name}}}", value)
                return template
            case dict():
                return {name: self.fill(value) for name, value in template.items()}
            case list():
                return [self.fill(value) for value in template]
        return template


# What the parameters of an address are called here.
PARAMETERS = {
    "conversation_id": "{conversation}",
    "seq": "1",
    "generation_id": "{generation}",
    "chunk_id": "{chunk}",
    "effect_id": "{effect}",
    "question_id": "{question}",
    "run_id": "{job}",
    "hold_id": "{hold}",
    "number": "{erasure}",
}


def walk() -> Iterator[tuple[str, str]]:
    """Yield every operation that the resolver knows: the name of its address, and its method."""
    for address in of_the_product():
        view = getattr(address.view, "cls", None)
        if view is not None and issubclass(view, ApiView):
            for method in METHODS:
                if hasattr(view, method.lower()):
                    yield address.name.removeprefix(PREFIX), method


def path_of(name: str, things: Things) -> str:
    (address,) = [found for found in of_the_product() if found.name == PREFIX + name]

    return reverse(
        address.name, kwargs={wanted: things.fill(PARAMETERS[wanted]) for wanted in address.converters}
    )


def ask(client: APIClient, name: str, method: str, things: Things) -> Any:
    operation = OPERATIONS[name, method]
    address = path_of(name, things) + things.fill(operation.query)
    if operation.body is None:
        return client.generic(method, address)
    return getattr(client, method.lower())(address, things.fill(operation.body), format="json")
