"""The agent of the stories as an application elsewhere: it knows the store by HTTP alone."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import stripe
from django.contrib.auth.models import User

from access.actors import Actor, ActorKind
from access.models import Realm, Scope
from access.services.keys import issue_key
from evidence.crashes import wire
from evidence.crashes.stories import AMOUNT, Story, World
from evidence.crashes.web_server import WebServer
from samples.processor.process import StartedProcessor

_SCOPES = (Scope.WRITE, Scope.EFFECTS)
_MOST_REQUESTS = 1_000_000


class RemoteWorld(World):
    """The same stories; each has a key of its own, and its agent goes through the web server."""

    def __init__(self, processor: StartedProcessor, realm: Realm, staff: list[User], *, folder: Path) -> None:
        super().__init__(processor, realm, staff)
        self.server = WebServer(clock=self.now, folder=folder)
        self._secrets: dict[int, str] = {}

    def tell(self, kind: str) -> Story:
        story = super().tell(kind)
        issued = issue_key(
            realm=self.realm,
            application=f"agent of story {story.number}",
            scopes=_SCOPES,
            actor=Actor(ActorKind.STAFF, str(self.staff[0].pk)),
            now=self.now(),
            requests_per_minute=_MOST_REQUESTS,
        )
        self._secrets[story.number] = issued.secret
        return story

    def agent(self, story: Story, call_id: str) -> Callable[[], None]:
        """Return the agent's work: record, begin, send, settle, answer the call; all of it repeatable."""

        def work() -> None:
            message = self._record_call(story, call_id)
            outcome = self._charge_once(story, message, call_id)
            if outcome in ("applied", "failed"):
                self._record_answer(story, message, call_id, outcome)

        return work

    def _record_call(self, story: Story, call_id: str) -> str:
        part = {
            "type": "tool_use",
            "tool_call_id": call_id,
            "tool_name": "buy_plan",
            "arguments": {"plan": "A", "amount": AMOUNT, "currency": "usd"},
        }
        written = self._post(
            story,
            f"conversations/{story.conversation_id}/messages",
            {"role": "assistant", "parts": [part], "client_message_id": f"call-{call_id}"},
        )
        return str(written["message"]["id"])

    def _charge_once(self, story: Story, message: str, call_id: str) -> str:
        begun = self._post(
            story,
            "effects",
            {"message_id": message, "call_id": call_id, "find_by": {"customer": story.customer}},
        )
        effect = begun["effect"]
        if begun["decision"] not in ("proceed", "resume"):
            return "" if effect is None else str(effect["state"])
        self._post(story, f"effects/{effect['id']}/sent", {})
        settled = self._post(story, f"effects/{effect['id']}/settle", self._send(story, begun))
        return str(settled["effect"]["state"])

    def _send(self, story: Story, begun: dict[str, Any]) -> dict[str, Any]:
        """Charge at the processor; return what it answered as the store takes it."""
        wanted: Any = {
            "amount": AMOUNT,
            "currency": "usd",
            "customer": story.customer,
            "payment_method": "pm_card_visa",
            "confirm": True,
            "metadata": begun["metadata"],
        }
        intent = self.api.payment_intents.create(wanted, {"idempotency_key": begun["idempotency_key"]})
        return {"response": _raw(intent)}

    def _record_answer(self, story: Story, message: str, call_id: str, outcome: str) -> None:
        part = {
            "type": "tool_result",
            "tool_call_id": call_id,
            "text": outcome,
            "status": "ok" if outcome == "applied" else "error",
        }
        self._post(
            story,
            f"conversations/{story.conversation_id}/tool-results",
            {"parts": [part], "client_message_id": f"answer-{call_id}", "below_id": message},
        )

    def _post(self, story: Story, path: str, body: dict[str, Any]) -> dict[str, Any]:
        secret = self._secrets[story.number]
        return wire.send(self.server.address, path, secret=secret, body=body)


def _raw(intent: stripe.PaymentIntent) -> dict[str, Any]:
    answer = intent.last_response
    if answer is None:
        raise RuntimeError("the SDK kept no answer")
    return {
        "http_status": answer.code,
        "body": base64.b64encode(answer.body.encode()).decode(),
        "request_id": answer.request_id or "",
    }
